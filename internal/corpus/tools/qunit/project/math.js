const { add, divide } = require('./lib');
QUnit.module('math', () => {
  QUnit.test('adds', assert => { assert.equal(add(1, 2), 3); });
  QUnit.test('adds wrongly', assert => { assert.equal(add(1, 2), 4); });
  QUnit.test('throws', assert => { divide(1, 0); });
  QUnit.test('rejects', async assert => { await Promise.reject(new TypeError('connection is closed')); });
  QUnit.test('times out', assert => { assert.timeout(50); assert.async(); assert.ok(true); });
  QUnit.test.skip('is skipped', assert => {});
  QUnit.test.todo('is not written', assert => { assert.ok(false, 'later'); });
  QUnit.test.each('adds in a table', [[1, 1, 2], [2, 2, 5]], (assert, [a, b, c]) => { assert.equal(add(a, b), c); });
  QUnit.module('nested', () => {
    QUnit.test('compares objects', assert => { assert.deepEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });
  });
  QUnit.test('ünï cödé 日本語 ✓', assert => { assert.equal('ä', 'ö'); });
  QUnit.test('has a message', assert => { assert.ok(false, 'the sum is too small'); });
  QUnit.test('has no assertions', assert => {});
});
