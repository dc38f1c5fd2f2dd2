. "$LIB"
# The manifests of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install esbuild@$VERSION
for case in pass missing package syntax name; do
	entry=src/$case.js
	[ $case = pass ] && entry=src/index.js
	shown "npx esbuild --bundle $entry --outfile=dist/out.js"
	run $case.default esbuild --bundle $entry --outfile=dist/out.js
	run $case.default.color esbuild --bundle $entry --outfile=dist/out.js --color=true
done
