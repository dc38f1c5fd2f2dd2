Deno.test.beforeAll(() => { throw new Error('database is not ready'); });
Deno.test('needs the hook', () => {});
