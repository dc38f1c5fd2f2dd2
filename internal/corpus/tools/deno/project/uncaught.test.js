Deno.test('passes before', () => {});
Deno.test('throws later', async () => { setTimeout(() => { throw new Error('thrown later'); }, 10); await new Promise(r => setTimeout(r, 100)); });
