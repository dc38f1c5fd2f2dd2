const t = require('tap');
const { add } = require('./lib');
t.test('adds', async t => { t.equal(add(1, 2), 3); });
t.test('later', { skip: true }, async t => {});
