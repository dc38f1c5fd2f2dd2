. "$LIB"
npm_install eslint@$VERSION
export ESLINT_USE_FLAT_CONFIG=true
for case in pass fail warn syntax unicode; do
	file=src/$case.js
	[ $case = unicode ] && file=src/größe.js
	shown "npx eslint $file"
	run $case.stylish eslint $file
	run $case.stylish.color eslint --color $file
	report_of $case.json eslint -f json $file
	shown "npx eslint --max-warnings 0 $file"
	[ $case = warn ] && run max-warnings.stylish eslint --max-warnings 0 $file
	if [ "${VERSION%%.*}" = 8 ]; then
		for reporter in unix compact checkstyle junit; do
			shown "npx eslint -f $reporter $file"
			if [ $reporter = checkstyle ]; then report_of $case.$reporter eslint -f $reporter $file; else [ $reporter = junit ] || run $case.$reporter eslint -f $reporter $file; fi
		done
	fi
done
shown "npx eslint src"
run all.stylish eslint src
mv eslint.config.mjs none.mjs
run config.stylish eslint src/pass.js
true
