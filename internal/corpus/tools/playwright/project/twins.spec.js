const { test } = require('@playwright/test');
test('twin', () => {});
test('twin', () => {});
