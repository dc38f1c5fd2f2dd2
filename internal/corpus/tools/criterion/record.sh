. "$LIB"
# Debian pins the version.
dpkg -s libcriterion-dev > /dev/null 2>&1 || apt-get install -y --no-install-recommends libcriterion-dev > /dev/null || exit 1
for case in mixed green none noisy; do
	gcc -g -o $case $case.c -lcriterion || exit 1
	run $case.default ./$case -j1
	run_tty $case.default.color ./$case -j1
	run $case.verbose ./$case -j1 --verbose
	run $case.tap ./$case -j1 --tap
	./$case -j1 --xml=report.xml > /dev/null 2>&1
	report $case.xml report.xml
	./$case -j1 --json=report.json > /dev/null 2>&1
	report $case.json report.json
done
