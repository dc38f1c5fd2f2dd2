-module(green).
-include_lib("eunit/include/eunit.hrl").
works_test() -> ?assertEqual(2, 1 + 1).
noise_test() ->
    io:format("mixed: other_test...*failed*~n"),
    io:format(user, "  Failed: 1.  Skipped: 0.  Passed: 2.~nError: connection refused~n", []).
generated_test_() -> [?_assert(true), ?_assert(true)].
