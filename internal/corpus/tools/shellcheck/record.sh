. "$LIB"
shellcheck --version | grep -q "version: $VERSION" || { echo "this is not shellcheck $VERSION" >&2; exit 1; }
for case in pass fail syntax; do
	for reporter in tty gcc; do
		shown "shellcheck -f $reporter $case.sh"
		run $case.$reporter shellcheck -f $reporter $case.sh
	done
	run $case.tty.color shellcheck --color=always $case.sh
	report_of $case.checkstyle shellcheck -f checkstyle $case.sh
	report_of $case.json1 shellcheck -f json1 $case.sh
done
