. "$LIB"
for case in pass fail syntax; do
	shown "flake8 $case.py"
	run $case.default flake8 $case.py
	run $case.pylint flake8 --format=pylint $case.py
done
