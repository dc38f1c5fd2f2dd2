. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install mocha@$VERSION mocha-junit-reporter@2.2.1
for case in math green noisy syntax import; do
	shown "npx mocha $case.js"
	for reporter in spec dot list min landing; do
		run $case.$reporter mocha -R $reporter $case.js
	done
	[ $case = syntax ] || [ $case = import ] || run $case.tap mocha -R tap $case.js
	FORCE_COLOR=1 run $case.spec.color mocha --color $case.js
done
for case in math green; do
	mocha -R mocha-junit-reporter --reporter-options mochaFile=junit.xml $case.js >/dev/null 2>&1
	LAST=$?
	report $case.junit junit.xml
	report_of $case.json mocha -R json $case.js
	report_of $case.xunit mocha -R xunit $case.js
done
