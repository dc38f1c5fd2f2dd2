. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install vitest@$VERSION @vitest/coverage-v8@$VERSION
for case in math green noisy syntax import; do
	shown "npx vitest run $case"
	for reporter in default verbose dot tap tap-flat; do
		run $case.$reporter vitest run --reporter=$reporter $case.test.js
	done
	FORCE_COLOR=1 run $case.default.color vitest run --reporter=default $case.test.js
	GITHUB_ACTIONS=true run $case.ci vitest run $case.test.js
	report_of $case.json vitest run --reporter=json $case.test.js
	report_of $case.junit vitest run --reporter=junit $case.test.js
done
GITHUB_ACTIONS=true run math.github-actions vitest run --reporter=github-actions math.test.js
run coverage.default vitest run green.test.js --coverage --coverage.thresholds.lines=99
