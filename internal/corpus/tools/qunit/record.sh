. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install qunit@$VERSION
for case in math hook green noisy syntax import zero exits uncaught; do
	shown "npx qunit $case.js"
	run $case.default qunit $case.js
	FORCE_COLOR=1 run $case.default.color qunit $case.js
done
shown "npx qunit"
run several.default qunit math.js hook.js green.js
shown "npx qunit slow.js"
LIMIT=3 run killed.default qunit slow.js
