use strict; use warnings;
use Test::More tests => 4;
ok(1, 'before');
die "no database\n";
