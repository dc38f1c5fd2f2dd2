use Test::More;
ok(1, 'adds');
TODO: { local $TODO = 'not yet'; ok(0, 'later') }
SKIP: { skip 'no network', 1 }
done_testing;
