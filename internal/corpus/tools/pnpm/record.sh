. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
npm_install pnpm@$VERSION vitest@4.1.12 mocha@11.8.0
rm node_modules
bins() {
	for p in a:vitest b:mocha; do
		mkdir -p packages/${p%:*}/node_modules/.bin
		ln -sfn "$CACHE/node_modules/${p#*:}" packages/${p%:*}/node_modules/${p#*:}
		ln -sfn "$CACHE/node_modules/.bin/${p#*:}" packages/${p%:*}/node_modules/.bin/${p#*:}
	done
}
for case in math green; do
	cd $case
	bins
	sed -i '/packageManager/s/"packageManager":"[^"]*",//' package.json
	run $case.plain pnpm -r --no-bail run test
	run $case.stream pnpm -r --no-bail --stream run test
	GITHUB_ACTIONS=true run $case.ci pnpm -r --no-bail run test
	cd ..
done
