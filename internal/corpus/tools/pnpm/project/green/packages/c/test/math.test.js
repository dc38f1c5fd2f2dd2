const { test } = require('node:test'); const assert = require('node:assert');
test('adds', () => { assert.strictEqual(require('../lib').add(1, 2), 3); });
test.skip('later', () => {});
test('fails but is todo', { todo: true }, () => { assert.strictEqual(1, 2); });
