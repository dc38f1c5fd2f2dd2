const t = require('tap');
require('./not-there');
t.test('never runs', async t => {});
