. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install uvu@$VERSION
for case in math green noisy; do
	shown "npx uvu . $case"
	run $case.cli uvu . "^$case.js\$"
	FORCE_COLOR=1 run $case.cli.color uvu . "^$case.js\$"
	run $case.node node $case.js
done
