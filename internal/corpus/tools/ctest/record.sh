. "$LIB"
# Debian pins the version.
dpkg -s cmake > /dev/null 2>&1 || apt-get install -y --no-install-recommends cmake > /dev/null || exit 1
PROJECT=$PWD
for case in mixed green none; do
	cd "$PROJECT/$case"
	cmake -S . -B build > /dev/null || exit 1
	run $case.default ctest --test-dir build
	run $case.onfailure ctest --test-dir build --output-on-failure
	run $case.parallel ctest --test-dir build -j4 --output-on-failure
	run $case.verbose ctest --test-dir build -V
	run $case.progress ctest --test-dir build --progress
	run $case.repeat ctest --test-dir build --repeat until-pass:2 --output-on-failure
	ctest --test-dir build --output-junit "$PWD/report.xml" > /dev/null 2>&1
	report $case.junit report.xml
	rm -rf build/Testing
	ctest --test-dir build -T Test > /dev/null 2>&1
	sed -i -E '/^\t(OS|Vendor|Family|Model|Processor|Number|Logical|Total|BuildStamp)\w*=/d' build/Testing/*/Test.xml
	report $case.xml build/Testing/*/Test.xml
done
