use strict; use warnings; use utf8;
use Test::More;

sub total { 3 }

ok(1, 'works');
is(total(), 4, 'adds up');
is_deeply([1, { a => 2 }], [1, { a => 3 }], 'is the same');
like('one', qr/two/, 'matches');
cmp_ok(total(), '>', 5, 'is larger');
ok(0);
isnt(total(), 3, 'größer – € # and more');
TODO: {
    local $TODO = 'not yet';
    ok(0, 'is expected');
    ok(1, 'is expected but works');
}
SKIP: {
    skip 'no network', 2;
    ok(0, 'a'); ok(0, 'b');
}
subtest 'inner' => sub {
    ok(1, 'inner works');
    is(1, 2, 'inner fails');
    subtest 'deep' => sub { ok(0, 'deep fails') };
};
can_ok('main', 'missing');
fail('by hand');
done_testing;
