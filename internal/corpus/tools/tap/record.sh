. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install tap@$VERSION
export TAP_ALLOW_INCOMPLETE_COVERAGE=1 TAP_DISABLE_COVERAGE=1
for case in math hook green noisy syntax import zero exits uncaught; do
	shown "npx tap run $case.test.js"
	for reporter in base tap terse min dot; do
		run $case.$reporter tap run --disable-coverage --reporter=$reporter $case.test.js
	done
	FORCE_COLOR=1 run $case.base.color tap run --disable-coverage --color --reporter=base $case.test.js
	report_of $case.junit tap run --disable-coverage --reporter=junit $case.test.js
done
shown "npx tap run"
run several.base tap run --disable-coverage --reporter=base math.test.js hook.test.js green.test.js
run several.tap tap run --disable-coverage --reporter=tap math.test.js hook.test.js green.test.js
