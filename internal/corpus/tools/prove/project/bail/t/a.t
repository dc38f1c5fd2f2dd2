use Test::More;
ok(1, 'one');
ok(0, 'two');
BAIL_OUT('no server');
