. "$LIB"
# Debian pins the version.
dpkg -s r-cran-testthat > /dev/null 2>&1 || apt-get install -y --no-install-recommends r-cran-testthat > /dev/null || exit 1
export NOT_CRAN=true
for case in mixed green none; do
	for reporter in progress check summary tap; do
		run $case.$reporter Rscript -e "testthat::test_dir('$case', reporter = '$reporter')"
	done
	run_tty $case.default.color Rscript -e "testthat::test_dir('$case')"
	Rscript -e "testthat::test_dir('$case', reporter = testthat::JunitReporter\$new(file = '$PWD/report.xml'))" > /dev/null 2>&1
	[ ! -e report.xml ] || report $case.junit report.xml
	rm -f report.xml
done
