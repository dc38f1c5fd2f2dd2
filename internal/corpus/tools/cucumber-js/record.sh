. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install @cucumber/cucumber@$VERSION node@26.10.0
for case in math green; do
	shown "npx cucumber-js $case.feature"
	for reporter in progress pretty summary progress-bar; do
		run $case.$reporter cucumber-js --format $reporter features/$case.feature
	done
	FORCE_COLOR=1 run $case.progress.color cucumber-js features/$case.feature
	report_of $case.json cucumber-js --format json features/$case.feature
	report_of $case.junit cucumber-js --format junit features/$case.feature
done
