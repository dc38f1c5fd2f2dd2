. "$LIB"
# Debian pins the version.
dpkg -s lua-unit > /dev/null 2>&1 || apt-get install -y --no-install-recommends lua-unit > /dev/null || exit 1
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
PROJECT=$PWD
for case in mixed green; do
	L="lua5.3 $case.lua"
	run $case.text $L
	run $case.verbose $L -v
	$L -o junit -n junit > /dev/null 2>&1
	report $case.junit junit.xml
done
