const { test, expect } = require('@playwright/test');
const { add, divide } = require('./lib');
test.describe('math', () => {
  test('adds', () => { expect(add(1, 2)).toBe(3); });
  test('adds wrongly', () => { expect(add(1, 2)).toBe(4); });
  test('throws', () => { divide(1, 0); });
  test('times out', async () => { test.setTimeout(200); await new Promise(() => {}); });
  test.skip('is skipped', () => {});
  test.fixme('is to be mended', () => {});
  test('is expected to fail', () => { test.fail(); expect(1).toBe(2); });
  for (const [a, b, c] of [[1, 1, 2], [2, 2, 5]]) test(`adds ${a} and ${b} to ${c}`, () => { expect(add(a, b)).toBe(c); });
  test.describe('nested', () => {
    test('compares objects', () => { expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }); });
  });
  test('ünï cödé 日本語 ✓', () => { expect('ä').toBe('ö'); });
  test('fails softly', () => { expect.soft(1).toBe(2); expect.soft(3).toBe(4); });
  test('fails in a step', async () => { await test.step('asks the server', () => { expect(1).toBe(5); }); });
});
