. "$LIB"
# Debian pins the version.
dpkg -s doctest-dev > /dev/null 2>&1 || apt-get install -y --no-install-recommends doctest-dev > /dev/null || exit 1
for case in mixed green none noisy segv killed; do
	g++ -g -o $case $case.cc || exit 1
	run $case.console ./$case
	run $case.console.color ./$case --force-colors=true
	run $case.success ./$case -s
	[ $case != killed ] || continue
	./$case -r=xml -o=report.xml > /dev/null 2>&1
	report $case.xml report.xml
	./$case -r=junit -o=report.xml > /dev/null 2>&1
	report $case.junit report.xml
done
