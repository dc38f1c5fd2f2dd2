. "$LIB"
# The manifests of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install rollup@$VERSION
for case in pass missing package syntax name; do
	entry=src/$case.js
	[ $case = pass ] && entry=src/index.js
	shown "npx rollup $entry -d dist"
	run $case.default rollup $entry -d dist -f es
	FORCE_COLOR=1 run $case.default.color rollup $entry -d dist -f es
done
