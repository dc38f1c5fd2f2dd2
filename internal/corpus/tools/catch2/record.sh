. "$LIB"
# Debian pins the version.
dpkg -s catch2 > /dev/null 2>&1 || apt-get install -y --no-install-recommends catch2 > /dev/null || exit 1
g++ -c main.cc || exit 1
for case in mixed green none noisy segv killed duplicate; do
	g++ -g -o $case $case.cc main.o || exit 1
	run $case.console ./$case
	run $case.console.color ./$case --use-colour yes
	run $case.success ./$case -s
	run $case.compact ./$case -r compact
	case $case in killed | duplicate) continue ;; esac
	./$case -r xml -o report.xml > /dev/null 2>&1
	report $case.xml report.xml
	./$case -r junit -o report.xml > /dev/null 2>&1
	report $case.junit report.xml
done
