. "$LIB"
# Debian pins the version.
dpkg -s bats > /dev/null 2>&1 || apt-get install -y --no-install-recommends bats > /dev/null || exit 1
export BATS_TEST_TIMEOUT=2
for case in mixed green none syntax fixture setup killed duplicate; do
	LIMIT=20
	run $case.tap bats $case.bats
	run $case.pretty bats --pretty $case.bats
	run_tty $case.pretty.color bats $case.bats
	run $case.trace bats --trace $case.bats
	run $case.tap13 bats --formatter tap13 $case.bats
	run $case.timing bats -T --print-output-on-failure $case.bats
	[ $case = duplicate ] || report_of $case.junit bats --formatter junit $case.bats
done
run two.tap bats green.bats setup.bats
run missing.tap bats missing.bats
