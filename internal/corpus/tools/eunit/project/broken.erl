-module(broken).
-include_lib("eunit/include/eunit.hrl").
works_test() -> ?assertEqual(2, unknown()).
