. "$LIB"
npm_install @biomejs/biome@$VERSION
for case in pass fail syntax; do
	shown "npx biome lint $case.js"
	run $case.default biome lint --colors=off $case.js
	run $case.default.color biome lint --colors=force $case.js
	shown "npx biome lint --reporter=github $case.js"
	run $case.github biome lint --reporter=github $case.js
done
shown "npx biome ci"
run all.default biome ci --colors=off .
