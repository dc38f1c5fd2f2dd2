. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install jest@$VERSION
for case in math green noisy syntax import; do
	shown "npx jest $case"
	run $case.default jest $case.test.js
	[ $case = noisy ] || run $case.verbose jest --verbose $case.test.js
	FORCE_COLOR=1 run $case.verbose.color jest --verbose $case.test.js
	GITHUB_ACTIONS=true run $case.annotations jest $case.test.js --reporters=github-actions --reporters=summary
	report_of $case.json jest --json $case.test.js
done
GITHUB_ACTIONS=true run math.alone jest math.test.js --reporters=github-actions
run coverage.default jest green.test.js --coverage --coverageThreshold '{"global":{"lines":90}}'
