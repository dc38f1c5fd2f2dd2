const { test, expect } = require('@playwright/test');
test('passes at the second attempt', ({}, info) => { expect(info.retry).toBe(1); });
test('passes', () => { expect(1).toBe(1); });
