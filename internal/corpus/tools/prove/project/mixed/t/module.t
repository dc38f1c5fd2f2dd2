use strict; use warnings;
use No::Such::Module;
use Test::More;
ok(1, 'one');
done_testing;
