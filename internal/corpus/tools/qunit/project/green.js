const { add } = require('./lib');
QUnit.test('adds', assert => { assert.equal(add(1, 2), 3); });
QUnit.test.skip('later', () => {});
