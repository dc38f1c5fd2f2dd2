. "$LIB"
# Debian pins the version.
dpkg -s phpunit > /dev/null 2>&1 || apt-get install -y --no-install-recommends phpunit > /dev/null || exit 1
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
PROJECT=$PWD
for case in mixed green; do
	cd "$PROJECT/$case"
	P="phpunit --do-not-cache-result"
	run $case.default $P .
	run $case.verbose $P -v .
	run $case.default.color $P --colors=always .
	run $case.testdox $P --testdox .
	$P --log-junit junit.xml . > /dev/null 2>&1
	report $case.junit junit.xml
done
