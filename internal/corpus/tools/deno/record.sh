. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install deno@$VERSION
rm node_modules
export NO_COLOR=1 DENO_NO_UPDATE_CHECK=1 DENO_DIR=$CACHE/deno
for case in math hook green noisy syntax import types zero exits uncaught toplevel; do
	file=$case.test.js
	[ $case = types ] && file=types.test.ts
	shown "deno test --allow-read $file"
	run $case.default deno test --allow-read $file
	run $case.dot deno test --allow-read --reporter=dot $file
	run $case.tap deno test --allow-read --reporter=tap $file
	NO_COLOR= FORCE_COLOR=1 run $case.default.color env -u NO_COLOR deno test --allow-read $file
	case $case in math | hook | green) report_of $case.junit deno test --allow-read --reporter=junit $file;; esac
done
shown "deno test --allow-read"
run several.default deno test --allow-read math.test.js green.test.js uncaught.test.js
run failfast.default deno test --allow-read --fail-fast math.test.js
shown "deno test slow.test.js"
LIMIT=3 run killed.default deno test slow.test.js
