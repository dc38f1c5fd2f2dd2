. "$LIB"
for case in pass fail; do
	shown "clang-tidy --warnings-as-errors='*' $case.c"
	run $case.default clang-tidy "--checks=clang-analyzer-*,bugprone-*" "--warnings-as-errors=*" $case.c --
done
