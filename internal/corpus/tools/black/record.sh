. "$LIB"
for case in pass format syntax; do
	shown "black --check $case.py"
	run $case.default black --check $case.py
	run $case.diff black --check --diff $case.py
done
