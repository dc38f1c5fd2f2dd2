const { add } = require('./lib');
test('adds', () => { expect(add(1, 2)).toBe(3); });
test.skip('later', () => {});
