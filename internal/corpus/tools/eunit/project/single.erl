-module(single).
-include_lib("eunit/include/eunit.hrl").
only_test() -> ?assertEqual(2, 1).
