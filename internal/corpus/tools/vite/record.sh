. "$LIB"
# The manifests of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install vite@$VERSION
for case in pass missing package syntax name; do
	entry=src/$case.js
	[ $case = pass ] && entry=src/index.js
	shown "npx vite build"
	ENTRY=$entry run $case.default vite build
	ENTRY=$entry FORCE_COLOR=1 run $case.default.color vite build
done
