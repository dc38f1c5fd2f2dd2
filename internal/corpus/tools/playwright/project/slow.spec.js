const { test, expect } = require('@playwright/test');
test('answers', () => { expect(1).toBe(1); });
test('fails first', () => { expect(1).toBe(2); });
test('never answers', async () => { test.setTimeout(60000); await new Promise(() => {}); });
