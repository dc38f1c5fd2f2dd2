const { test } = require('@playwright/test');
test('never runs', () => { const x = ; });
