. "$LIB"
# Interpreters that only check a file.
for case in pass fail; do
	shown "php -l $case.php"; run php-$case.default php -l $case.php
	shown "ruby -c $case.rb"; run ruby-$case.default ruby -c $case.rb
	shown "perl -c $case.pl"; run perl-$case.default perl -c $case.pl
	shown "bash -n $case.sh"; run bash-$case.default bash -n $case.sh
	shown "node --check $case.js"
	echo "const a = 1" > pass.js; printf 'const a = 1\nconst b = ;\n' > fail.js
	run node-$case.default node --check $case.js
	shown "python3 -m py_compile $case.py"
	echo "a = 1" > pass.py; printf 'a = 1\ndef b(\n    return\n' > fail.py
	run python-$case.default python3 -m py_compile $case.py
done
