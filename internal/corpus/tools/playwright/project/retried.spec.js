const { test, expect } = require('@playwright/test');
test('fails each time', ({}, info) => { expect(info.retry).toBe(7); });
test('passes at the second attempt', ({}, info) => { expect(info.retry).toBe(1); });
