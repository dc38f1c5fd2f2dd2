import test from 'ava';
test('adds', t => { t.is(1 + 2, 3); });
test('hangs', async t => { await new Promise(r => setTimeout(r, 20000)); t.pass(); });
