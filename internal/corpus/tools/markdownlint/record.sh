. "$LIB"
npm_install markdownlint-cli2@$VERSION
for case in pass fail; do
	shown "npx markdownlint-cli2 $case.md"
	run $case.default markdownlint-cli2 $case.md
done
