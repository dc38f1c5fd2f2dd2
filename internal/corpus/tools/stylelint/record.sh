. "$LIB"
npm_install stylelint@$VERSION
[ "${VERSION%%.*}" -ge 16 ] || { sed 's/export default/module.exports =/' stylelint.config.mjs > stylelint.config.js; rm stylelint.config.mjs; }
for case in pass fail syntax; do
	for reporter in string unix compact; do
		shown "npx stylelint -f $reporter $case.css"
		run $case.$reporter stylelint -f $reporter $case.css
	done
	report_of $case.json stylelint -f json $case.css
done
