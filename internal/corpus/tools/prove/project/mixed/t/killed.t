use Test::More;
$| = 1;
ok(1, 'one');
kill 9, $$;
