. "$LIB"
npm_install oxlint@$VERSION
for case in pass fail syntax; do
	for reporter in default unix github; do
		shown "npx oxlint -f $reporter $case.js"
		run $case.$reporter oxlint -D correctness -f $reporter $case.js
	done
	report_of $case.json oxlint -D correctness -f json $case.js
done
