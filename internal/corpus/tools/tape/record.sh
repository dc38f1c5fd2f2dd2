. "$LIB"
npm_install tape@$VERSION
for case in math green; do
	shown "npx tape $case.js"
	run $case.tap tape $case.js
done
