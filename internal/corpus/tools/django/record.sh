. "$LIB"
# Debian pins the version.
dpkg -s python3-django > /dev/null 2>&1 || apt-get install -y --no-install-recommends python3-django > /dev/null || exit 1
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
PROJECT=$PWD
for case in mixed green none broken migration; do
	cd "$PROJECT/$case"
	shown "python3 manage.py test"; run $case.default /usr/bin/python3 manage.py test
	shown "python3 manage.py test -v 2"; run $case.verbose /usr/bin/python3 manage.py test -v 2
	shown "python3 manage.py test --parallel 2"; run $case.parallel /usr/bin/python3 manage.py test --parallel 2
	shown "python3 manage.py test -b --timing"; run $case.buffer /usr/bin/python3 manage.py test -b --timing
	shown "python3 manage.py test -r --debug-sql"; run $case.reverse /usr/bin/python3 manage.py test -r --debug-sql
done
cd "$PROJECT/green"
shown "python3 manage.py test shop.missing"; run label.default /usr/bin/python3 manage.py test shop.missing
