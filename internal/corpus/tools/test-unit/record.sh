. "$LIB"
# Debian pins the version.
dpkg -s ruby-test-unit > /dev/null 2>&1 || apt-get install -y --no-install-recommends ruby-test-unit > /dev/null || exit 1
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
PROJECT=$PWD
for case in mixed green none; do
	cd "$PROJECT/$case"
	run $case.default ruby test_$case.rb
	run $case.verbose ruby test_$case.rb -v v
done
