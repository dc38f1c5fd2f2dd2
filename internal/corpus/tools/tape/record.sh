. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install tape@$VERSION
for case in math green; do
	shown "npx tape $case.js"
	run $case.tap tape $case.js
done
