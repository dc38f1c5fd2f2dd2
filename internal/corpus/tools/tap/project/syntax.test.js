const t = require('tap');
t.test('never runs', async t => { const x = ; });
