import test from 'ava';
test('adds', t => { t.is(1 + 2, 3); });
test.skip('later', t => { t.pass(); });
