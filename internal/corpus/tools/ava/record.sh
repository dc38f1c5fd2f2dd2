. "$LIB"
npm_install ava@$VERSION
for case in math green noisy syntax import hang; do
	shown "npx ava $case.js"
	run $case.default ava $case.js
	FORCE_COLOR=1 run $case.default.color ava --color $case.js
	case $case in math|green) run $case.tap ava --tap $case.js;; esac
done
