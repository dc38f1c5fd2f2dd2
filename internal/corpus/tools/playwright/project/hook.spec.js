const { test, expect } = require('@playwright/test');
test.describe('hooked', () => {
  test.beforeAll(() => { throw new Error('database is not ready'); });
  test('needs the hook', () => {});
  test('waits for the hook', () => {});
});
const fixed = test.extend({ account: async ({}, use) => { throw new Error('no account'); } });
fixed('needs an account', ({ account }) => {});
