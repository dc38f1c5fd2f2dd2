. "$LIB"
npm_install uvu@$VERSION
for case in math green noisy; do
	shown "npx uvu . $case"
	run $case.cli uvu . "^$case.js\$"
	FORCE_COLOR=1 run $case.cli.color uvu . "^$case.js\$"
	run $case.node node $case.js
done
