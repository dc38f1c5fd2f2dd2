use strict; use warnings;
use Test::More;
ok(1, 'one'
done_testing;
