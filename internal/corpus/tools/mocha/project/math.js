const assert = require('assert');
const { add, divide } = require('./lib');
describe('math', () => {
  it('adds', () => { assert.strictEqual(add(1, 2), 3); });
  it('adds wrongly', () => { assert.strictEqual(add(1, 2), 4); });
  it('throws', () => { divide(1, 0); });
  it('times out', function (done) { this.timeout(50); });
  it.skip('is skipped', () => {});
  it('is not written');
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
