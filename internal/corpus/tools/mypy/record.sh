. "$LIB"
for case in pass fail syntax; do
	shown "mypy $case.py"
	run $case.default mypy $case.py
	run $case.pretty mypy --pretty $case.py
	FORCE_COLOR=1 MYPY_FORCE_COLOR=1 TERM=xterm run $case.default.color mypy $case.py
done
