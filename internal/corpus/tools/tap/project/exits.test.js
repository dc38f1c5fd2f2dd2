const t = require('tap');
t.test('passes before', async t => { t.ok(true); });
t.test('exits', async t => { process.exit(3); });
