-module(one).
-include_lib("eunit/include/eunit.hrl").
only_test() -> ?assertEqual(1, 1).
