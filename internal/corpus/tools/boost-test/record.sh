. "$LIB"
# Debian pins the version.
dpkg -s libboost-test-dev > /dev/null 2>&1 || apt-get install -y --no-install-recommends libboost-test-dev > /dev/null || exit 1
for case in mixed green none noisy killed setup; do
	wanted $case. || continue
	g++ -g -o $case $case.cc || exit 1
	run $case.default ./$case
	run $case.default.color ./$case --color_output=yes
	run $case.suite ./$case --log_level=test_suite
	run $case.report ./$case --report_level=detailed
	[ $case != killed ] || continue
	./$case --log_format=JUNIT --log_sink=report.xml --log_level=all > /dev/null 2>&1
	report $case.junit report.xml
	./$case --log_format=XML --log_sink=report.xml --log_level=test_suite > /dev/null 2>&1
	report $case.log report.xml
done
