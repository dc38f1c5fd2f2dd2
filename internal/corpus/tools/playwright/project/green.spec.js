const { test, expect } = require('@playwright/test');
test('adds', () => { expect(require('./lib').add(1, 2)).toBe(3); });
test.skip('later', () => {});
