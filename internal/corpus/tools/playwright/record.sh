. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install @playwright/test@$VERSION
for case in math hook flaky retried green noisy syntax import zero twins exits; do
	retries=0
	case $case in flaky | retried) retries=2;; esac
	shown "npx playwright test $case"
	for reporter in list line dot github; do
		run $case.$reporter playwright test --workers=1 --retries=$retries --reporter=$reporter $case.spec.js
	done
	FORCE_COLOR=1 run $case.list.color playwright test --workers=1 --retries=$retries --reporter=list $case.spec.js
	case $case in syntax | import | zero | twins) continue;; esac
	report_of $case.json playwright test --workers=1 --retries=$retries --reporter=json $case.spec.js
	report_of $case.junit playwright test --workers=1 --retries=$retries --reporter=junit $case.spec.js
done
shown "npx playwright test"
run several.list playwright test --workers=2 --reporter=list math.spec.js hook.spec.js green.spec.js
run several.dot playwright test --workers=2 --reporter=dot math.spec.js hook.spec.js green.spec.js
run stopped.list playwright test --workers=1 --max-failures=1 --reporter=list math.spec.js
shown "npx playwright test slow"
run timeout.list playwright test --workers=1 --global-timeout=3000 --reporter=list slow.spec.js
for reporter in list dot; do
	LIMIT=4 run killed.$reporter playwright test --workers=1 --reporter=$reporter slow.spec.js
done
