const assert = require('assert');
it('adds', () => { assert.strictEqual(require('./lib').add(1, 2), 3); });
it.skip('later', () => {});
