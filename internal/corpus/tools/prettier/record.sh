. "$LIB"
npm_install prettier@$VERSION
for case in pass fail syntax; do
	shown "npx prettier --check $case.js"
	run $case.check prettier --check $case.js
	FORCE_COLOR=1 run $case.check.color prettier --check $case.js
done
shown "npx prettier --list-different ."
run all.list prettier --list-different "*.js"
