import { test } from 'uvu'; import * as assert from 'uvu/assert';
test('adds', () => { assert.is(1 + 2, 3); });
test('multiplies', () => { assert.is(2 * 2, 4); });
test.skip('later', () => {});
test.run();
