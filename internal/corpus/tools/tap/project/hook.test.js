const t = require('tap');
t.test('hooked', async t => {
  t.beforeEach(() => { throw new Error('database is not ready'); });
  await t.test('needs the hook', async t => { t.ok(true); });
});
