. "$LIB"
[ "$(cppcheck --version)" = "Cppcheck $VERSION" ] || { echo "this is not cppcheck $VERSION" >&2; exit 1; }
for case in pass fail; do
	shown "cppcheck --error-exitcode=1 $case.c"
	run $case.default cppcheck --error-exitcode=1 $case.c
	run $case.gcc cppcheck --error-exitcode=1 --template=gcc $case.c
	cppcheck --xml $case.c > /dev/null 2> $case.xml
	LAST=0
	report $case.xml $case.xml
done
