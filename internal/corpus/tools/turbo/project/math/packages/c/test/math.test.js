const { describe, it, test, before } = require('node:test');
const assert = require('node:assert');
const { add, divide } = require('../lib');
describe('math', () => {
  it('adds', () => { assert.strictEqual(add(1, 2), 3); });
  it('adds wrongly', () => { assert.strictEqual(add(1, 2), 4); });
  it('throws', () => { divide(1, 0); });
  it('times out', { timeout: 50 }, () => new Promise(r => setTimeout(r, 500)));
  it.skip('is skipped', () => {});
  it.todo('is not written');
  it('fails but is todo', { todo: 'later' }, () => { assert.strictEqual(1, 2); });
  for (const [a, b, c] of [[1, 1, 2], [2, 2, 5]]) it(`adds ${a} and ${b} to ${c}`, () => { assert.strictEqual(add(a, b), c); });
  describe('nested', () => {
    it('compares objects', () => { assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });
  });
  it('ünï cödé 日本語 ✓', () => { assert.strictEqual('ä', 'ö'); });
  it('twin', () => { assert.strictEqual(1, 2); });
  it('twin', () => { assert.strictEqual(2, 3); });
});
describe('hooked', () => {
  before(() => { throw new Error('database is not ready'); });
  it('needs the hook', () => {});
});
test('parent', async (t) => {
  await t.test('child passes', () => {});
  await t.test('child fails', () => { assert.ok(false, 'child is wrong'); });
});
