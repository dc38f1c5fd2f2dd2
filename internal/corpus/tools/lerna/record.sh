. "$LIB"
npm_install lerna@$VERSION vitest@4.1.12 mocha@11.8.0
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
	export NX_DAEMON=false
	run $case.plain lerna run test --no-bail
	run $case.stream lerna run test --no-bail --stream
	cd ..
done
