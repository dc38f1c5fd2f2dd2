. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install bun@$VERSION
rm node_modules # bun would look for its tests in there
export FORCE_COLOR=0
for case in math hook green noisy syntax import zero exits uncaught; do
	shown "bun test $case.test.js"
	run $case.default bun test ./$case.test.js
	run $case.dots bun test --dots ./$case.test.js
	FORCE_COLOR=1 run $case.default.color bun test ./$case.test.js
	GITHUB_ACTIONS=true run $case.ci bun test ./$case.test.js
	rm -f junit.xml
	bun test --reporter=junit --reporter-outfile=junit.xml ./$case.test.js > /dev/null 2>&1
	LAST=$?
	[ -s junit.xml ] && report $case.junit junit.xml
done
shown "bun test"
run several.default bun test ./math.test.js ./hook.test.js ./green.test.js
run bail.default bun test --bail ./math.test.js
shown "bun test slow.test.js"
LIMIT=3 run killed.default bun test ./slow.test.js
