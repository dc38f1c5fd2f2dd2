import test from 'ava';
test('passes before', t => { t.pass(); });
test('exits', async t => { await new Promise(r => setTimeout(r, 50)); process.exit(3); });
