. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install jasmine@$VERSION jasmine-reporters@2.5.2
for case in math hook after green focus noisy syntax import zero exits; do
	shown "npx jasmine $case.spec.js"
	run $case.default jasmine --config=jasmine.json --no-color $case.spec.js
	run $case.default.color jasmine --config=jasmine.json --color $case.spec.js
	case $case in math | hook | after | green | focus)
		rm -f junit.xml
		jasmine --config=jasmine.json --helper=junit.js $case.spec.js > /dev/null 2>&1
		LAST=$?
		report $case.junit junit.xml
	esac
done
shown "npx jasmine"
run several.default jasmine --config=jasmine.json --no-color math.spec.js hook.spec.js green.spec.js
run several.parallel jasmine --config=jasmine.json --no-color --parallel=2 math.spec.js hook.spec.js green.spec.js
