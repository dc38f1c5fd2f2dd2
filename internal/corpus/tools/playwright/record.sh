LIMIT=240
. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install @playwright/test@$VERSION
reporters() {
	case $1 in
	math | hook) echo list line dot github json junit;;
	retried | exits) echo list dot github json junit;;
	flaky) echo list dot json;;
	green | noisy) echo list dot;;
	*) echo list;;
	esac
}
for case in math hook flaky retried green noisy syntax import zero twins exits; do
	retries=0
	case $case in flaky | retried) retries=2;; esac
	shown "npx playwright test $case"
	for reporter in $(reporters $case); do
		case $reporter in
		json | junit) report_of $case.$reporter playwright test --workers=1 --retries=$retries --reporter=$reporter $case.spec.js;;
		*) run $case.$reporter playwright test --workers=1 --retries=$retries --reporter=$reporter $case.spec.js;;
		esac
	done
done
shown "npx playwright test math"
FORCE_COLOR=1 run math.list.color playwright test --workers=1 --reporter=list math.spec.js
shown "npx playwright test"
run several.list playwright test --workers=2 --reporter=list math.spec.js hook.spec.js green.spec.js
run stopped.list playwright test --workers=1 --max-failures=1 --reporter=list math.spec.js
shown "npx playwright test slow"
run timeout.list playwright test --workers=1 --global-timeout=15000 --reporter=list slow.spec.js
for reporter in list dot; do
	LIMIT=20 run killed.$reporter playwright test --workers=1 --reporter=$reporter slow.spec.js
done
