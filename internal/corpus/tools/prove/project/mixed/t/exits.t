use Test::More;
ok(1, 'one');
ok(1, 'two');
done_testing;
END { $? = 3 }
