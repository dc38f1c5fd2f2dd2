. "$LIB"
for case in pass fail syntax; do
	for reporter in standard parsable github; do
		shown "yamllint -f $reporter $case.yaml"
		run $case.$reporter yamllint -f $reporter $case.yaml
	done
	run $case.colored.color yamllint -f colored $case.yaml
done
