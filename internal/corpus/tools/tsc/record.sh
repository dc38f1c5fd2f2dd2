. "$LIB"
npm_install typescript@$VERSION
for case in pass fail syntax import; do
	shown "npx tsc --noEmit $case.ts"
	flags="--noEmit --strict --target es2022 --module nodenext --types "
	run $case.plain tsc --noEmit --strict --target es2022 --module nodenext --pretty false --ignoreConfig $case.ts
	grep -q "Unknown compiler option" "$OUTDIR/$case.plain.txt" && sed -i '$d' "$OUTDIR/runs" && run $case.plain tsc --noEmit --strict --target es2022 --module nodenext --pretty false $case.ts
	run $case.pretty.color tsc --noEmit --strict --target es2022 --module nodenext --pretty --ignoreConfig $case.ts
	grep -q "Unknown compiler option" "$OUTDIR/$case.pretty.color.txt" && sed -i '$d' "$OUTDIR/runs" && run $case.pretty.color tsc --noEmit --strict --target es2022 --module nodenext --pretty $case.ts
done
shown "npx tsc -p ."
run all.plain tsc -p . --pretty false
