. "$LIB"
# Debian pins the version.
dpkg -s erlang-eunit > /dev/null 2>&1 || apt-get install -y --no-install-recommends erlang-eunit > /dev/null || exit 1
shown "erlc broken.erl"
run broken.erlc erlc broken.erl
shown
for case in mixed green none single one killed; do
	erlc $case.erl || exit 1
	shown "erl -noshell -s tests"
	run $case.default erl -noshell -eval "case eunit:test($case) of ok -> halt(0); _ -> halt(1) end."
	run $case.verbose erl -noshell -eval "case eunit:test($case, [verbose]) of ok -> halt(0); _ -> halt(1) end."
	shown
	[ $case != killed ] || continue
	rm -f TEST-*.xml
	erl -noshell -eval "eunit:test($case, [{report, {eunit_surefire, [{dir, \".\"}]}}]), halt(0)." > /dev/null 2>&1
	report $case.surefire TEST-$case.xml
done
