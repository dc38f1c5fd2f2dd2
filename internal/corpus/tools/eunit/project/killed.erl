-module(killed).
-include_lib("eunit/include/eunit.hrl").
works_test() -> ok.
fails_test() -> ?assert(false).
dies_test() -> erlang:halt(1).
