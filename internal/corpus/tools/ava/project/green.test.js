import test from 'ava';
import { add } from './lib.js';
test('adds', t => { t.is(add(1, 2), 3); });
test.skip('later', t => {});
