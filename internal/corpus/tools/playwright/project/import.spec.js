const { test } = require('@playwright/test');
const x = require('./not-there');
test('never runs', () => {});
