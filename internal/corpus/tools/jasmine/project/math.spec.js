const { add, divide } = require('./lib');
describe('math', () => {
  it('adds', () => { expect(add(1, 2)).toBe(3); });
  it('adds wrongly', () => { expect(add(1, 2)).toBe(4); });
  it('throws', () => { divide(1, 0); });
  it('times out', done => {}, 50);
  it('rejects', async () => { await Promise.reject(new TypeError('connection is closed')); });
  xit('is skipped', () => {});
  it('is not written');
  it('is pending', () => { pending('needs a network'); });
  for (const [a, b, c] of [[1, 1, 2], [2, 2, 5]]) it(`adds ${a} and ${b} to ${c}`, () => { expect(add(a, b)).toBe(c); });
  describe('nested', () => {
    it('compares objects', () => { expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }); });
  });
  it('ünï cödé 日本語 ✓', () => { expect('ä').toBe('ö'); });
  it('has no expectations', () => {});
  it('fails twice', () => { expect(1).withContext('first').toBe(2); expect(2).withContext('second').toBe(3); });
  it('fails', () => { fail('gave up'); });
});
