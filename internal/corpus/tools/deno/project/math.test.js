import { add, divide } from './lib.js';
function equal(a, b) { if (a !== b) throw new Error(`Values are not equal: ${a} and ${b}`); }
Deno.test('adds', () => { equal(add(1, 2), 3); });
Deno.test('adds wrongly', () => { equal(add(1, 2), 4); });
Deno.test('throws', () => { divide(1, 0); });
Deno.test('rejects', async () => { await Promise.reject(new TypeError('connection is closed')); });
Deno.test({ name: 'is ignored', ignore: true, fn() {} });
for (const [a, b, c] of [[1, 1, 2], [2, 2, 5]]) Deno.test(`adds ${a} and ${b} to ${c}`, () => { equal(add(a, b), c); });
Deno.test('nested', async t => {
  await t.step('passes', () => {});
  await t.step('compares', () => { equal('a', 'b'); });
  await t.step('waits', async t => { await t.step('deeper', () => { equal(3, 4); }); });
});
Deno.test('ünï cödé 日本語 ✓', () => { equal('ä', 'ö'); });
Deno.test('twin', () => { equal(1, 2); });
Deno.test('twin', () => { equal(2, 3); });
Deno.test('leaks', () => { setTimeout(() => {}, 10000); });
Deno.test('waits forever', async () => { await new Promise(() => {}); });
