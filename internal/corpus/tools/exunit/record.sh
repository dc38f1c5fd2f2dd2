. "$LIB"
# Debian pins the version.
dpkg -s elixir > /dev/null 2>&1 || apt-get install -y --no-install-recommends elixir > /dev/null || exit 1
PROJECT=$PWD
for case in mixed green none compile syntax; do
	cd "$PROJECT/$case"
	[ $case = compile ] || MIX_ENV=test mix compile > /dev/null 2>&1
	run $case.default mix test --seed 0
	run $case.default.color mix test --seed 0 --color
	run $case.trace mix test --seed 1 --trace
done
cd "$PROJECT/green"
run missing.default mix test test/missing_test.exs
