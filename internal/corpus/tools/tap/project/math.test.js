const t = require('tap');
const { add, divide } = require('./lib');
t.test('adds', async t => { t.equal(add(1, 2), 3); });
t.test('adds wrongly', async t => { t.equal(add(1, 2), 4); });
t.test('throws', async t => { divide(1, 0); });
t.test('times out', { timeout: 300 }, t => { setTimeout(() => {}, 5000); });
t.test('is skipped', { skip: 'no network' }, async t => {});
t.test('is not written', { todo: true }, async t => {});
for (const [a, b, c] of [[1, 1, 2], [2, 2, 5]]) t.test(`adds ${a} and ${b} to ${c}`, async t => { t.equal(add(a, b), c); });
t.test('nested', async t => {
  await t.test('compares objects', async t => { t.same({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });
});
t.test('ünï cödé 日本語 ✓', async t => { t.equal('ä', 'ö'); });
