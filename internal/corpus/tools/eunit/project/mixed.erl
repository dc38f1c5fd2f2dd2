-module(mixed).
-include_lib("eunit/include/eunit.hrl").

total() -> 3.

works_test() -> ?assertEqual(3, total()).
adds_up_test() ->
    ?assertEqual(4, total()).
match_test() ->
    ?assertMatch({ok, _}, {error, gone}).
badmatch_test() ->
    {ok, _} = {error, total()}.
assert_test() ->
    ?assert(total() > 5).
exception_test() ->
    erlang:error(no_card).
exit_test() -> exit(on_purpose).
throw_test() -> throw(ball).
raises_test() ->
    ?assertError(badarg, total()).
undef_test() ->
    no_such_module:run().
generated_test_() ->
    [?_assertNotEqual(2, N) || N <- [1, 2, 3]].
named_test_() ->
    [{"is named", ?_assert(true)},
     {"is greater", ?_assertEqual(1, total())}].
reads_test_() ->
    {setup, fun() -> error(no_database) end, fun(_) -> ok end, [?_assert(true), ?_assert(true)]}.
closes_test_() ->
    {setup, fun() -> ok end, fun(_) -> error(cannot_close) end, [?_assert(true)]}.
slow_test_() ->
    {timeout, 1, fun() -> timer:sleep(5000) end}.
