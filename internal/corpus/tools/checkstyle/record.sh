. "$LIB"
checkstyle --version 2>&1 | grep -q "$VERSION" || { echo "this is not checkstyle $VERSION" >&2; exit 1; }
for case in pass fail; do
	shown "checkstyle -c rules.xml $case"
	run $case.plain checkstyle -c rules.xml $case
	report_of $case.xml checkstyle -c rules.xml -f xml $case
done
