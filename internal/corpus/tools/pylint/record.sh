. "$LIB"
# Debian pins the version.
dpkg -s pylint > /dev/null 2>&1 || apt-get install -y --no-install-recommends pylint > /dev/null || exit 1
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0 PYLINTHOME=$CACHE
for case in mixed green syntax warn pkg; do
	what=$case.py
	[ $case != pkg ] || what=pkg
	run $case.text pylint $what
	run $case.colorized.color pylint -f colorized $what
	run $case.parseable pylint -f parseable $what
	run $case.vs pylint -f msvs $what
	run $case.errors pylint -E $what
	run $case.reports pylint -r y $what
	report_of $case.json pylint -f json $what
done
run under.text pylint --fail-under=5 warn.py
run missing.text pylint missing.py
run usage.text pylint --no-such-option green.py
