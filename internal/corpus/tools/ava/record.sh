. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install ava@$VERSION
for case in math hook each green noisy syntax import zero exits uncaught; do
	shown "npx ava $case.test.js"
	run $case.default ava $case.test.js
	run $case.tap ava --tap $case.test.js
	FORCE_COLOR=1 run $case.default.color ava $case.test.js
done
shown "npx ava --timeout=1s pending.test.js"
run pending.default ava --timeout=1s pending.test.js
run pending.tap ava --tap --timeout=1s pending.test.js
shown "npx ava"
run several.default ava math.test.js green.test.js hook.test.js
run several.tap ava --tap math.test.js green.test.js hook.test.js
shown "npx ava math.test.js"
LIMIT=4 run killed.default ava pending.test.js
