. "$LIB"
# Debian pins the version.
dpkg -s libgtest-dev > /dev/null 2>&1 || apt-get install -y --no-install-recommends libgtest-dev > /dev/null || exit 1
build() {
	shown "g++ -o $1 $1.cc -lgtest_main -lgtest -lpthread"
	run $1.build g++ -o $1 $1.cc -lgtest_main -lgtest -lpthread
	shown
}
build compile
for case in mixed green none noisy segv abort fixture hang; do
	g++ -g -o $case $case.cc -lgtest_main -lgtest -lpthread || exit 1
	LIMIT=2
	run $case.default ./$case
	run $case.default.color ./$case --gtest_color=yes
	run $case.brief ./$case --gtest_brief=1
	run $case.shuffle ./$case --gtest_shuffle --gtest_random_seed=3
	case $case in segv | abort | hang) continue ;; esac
	run $case.repeat ./$case --gtest_repeat=2
	./$case --gtest_output=xml:report.xml > /dev/null 2>&1
	report $case.xml report.xml
	./$case --gtest_output=json:report.json > /dev/null 2>&1
	report $case.json report.json
done
