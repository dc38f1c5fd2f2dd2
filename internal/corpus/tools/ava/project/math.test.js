import test from 'ava';
import { add, divide } from './lib.js';

test('adds', t => { t.is(add(1, 2), 3); });
test('adds wrongly', t => { t.is(add(1, 2), 4); });
test('throws', t => { divide(1, 0); t.pass(); });
test('rejects', async t => { await Promise.reject(new TypeError('connection is closed')); t.pass(); });
test('times out', async t => { t.timeout(200); await new Promise(() => setTimeout(() => {}, 3000)); });
test.skip('is skipped', t => { t.fail(); });
test.todo('is not written');
test.failing('is expected to fail', t => { t.is(1, 2); });
test('fails with a message', t => { t.true(false, 'the sum is too small'); });
test('has no assertions', t => {});
test('logs', t => { t.log('not ok 1 - inner'); t.pass(); });
const macro = test.macro((t, a, b, c) => { t.is(add(a, b), c); });
for (const [a, b, c] of [[1, 1, 2], [2, 2, 5]]) test(`adds ${a} and ${b} to ${c}`, macro, a, b, c);
test('math › nested › compares objects', t => { t.deepEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });
test('ünï cödé 日本語 ✓', t => { t.is('ä', 'ö'); });
