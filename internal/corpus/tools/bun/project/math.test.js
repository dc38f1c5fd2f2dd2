import { describe, test, it, expect } from 'bun:test';
import { add, divide } from './lib.js';
describe('math', () => {
  it('adds', () => { expect(add(1, 2)).toBe(3); });
  it('adds wrongly', () => { expect(add(1, 2)).toBe(4); });
  it('throws', () => { divide(1, 0); });
  it('rejects', async () => { await Promise.reject(new TypeError('connection is closed')); });
  it('times out', () => new Promise(() => {}), 50);
  it.skip('is skipped', () => {});
  it.todo('is not written');
  it.failing('is expected to fail', () => { expect(1).toBe(2); });
  it.each([[1, 1, 2], [2, 2, 5]])('adds %i and %i to %i', (a, b, c) => { expect(add(a, b)).toBe(c); });
  describe('nested', () => {
    it('compares objects', () => { expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }); });
  });
  it('ünï cödé 日本語 ✓', () => { expect('ä').toBe('ö'); });
  it('twin', () => { expect(1).toBe(2); });
  it('twin', () => { expect(2).toBe(3); });
});
