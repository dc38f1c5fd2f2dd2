. "$LIB"
# Debian pins the version.
dpkg -s python3-pytest python3-pytest-xdist > /dev/null 2>&1 || apt-get install -y --no-install-recommends python3-pytest python3-pytest-xdist > /dev/null || exit 1
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
PROJECT=$PWD
for case in mixed green none; do
	cd "$PROJECT/$case"
	P="/usr/bin/python3 -m pytest -p no:cacheprovider"
	run $case.default $P
	run $case.verbose $P -v
	run $case.quiet $P -q
	run $case.default.color $P --color=yes
done
cd "$PROJECT/mixed"
run mixed.line $P --tb=line
run mixed.short $P --tb=short
run mixed.native $P --tb=native
run mixed.all $P -rA
run mixed.uncaptured $P -s
run mixed.xdist $P -n 2
