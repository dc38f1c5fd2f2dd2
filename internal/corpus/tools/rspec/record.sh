. "$LIB"
# Debian pins the version.
for p in ruby-rspec ruby-rspec-junit-formatter; do
	dpkg -s $p > /dev/null 2>&1 || apt-get install -y --no-install-recommends $p > /dev/null || exit 1
done
PROJECT=$PWD
for case in mixed green none loaderror fixture killed noisy; do
	cd "$PROJECT/$case"
	run $case.progress rspec
	run $case.documentation rspec --format documentation
	run $case.documentation.color rspec --format documentation --force-color
	run $case.backtrace rspec --backtrace --order rand:7
	[ $case != killed ] || continue
	report_of $case.json rspec --format json
	rspec --format RspecJunitFormatter --out junit.xml > /dev/null 2>&1
	report $case.junit junit.xml
done
