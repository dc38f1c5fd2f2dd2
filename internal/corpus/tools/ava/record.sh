. "$LIB"
LIMIT=120
npm_install ava@$VERSION
for case in math green noisy syntax import hang; do
	shown "npx ava $case.js"
	limit=
	[ $case = hang ] && limit=--timeout=5s
	run $case.default ava $limit $case.js
	FORCE_COLOR=1 run $case.default.color ava --color $limit $case.js
	case $case in math|green) run $case.tap ava --tap $case.js;; esac
done
