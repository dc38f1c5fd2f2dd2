Deno.test('answers', () => {});
Deno.test('fails first', () => { throw new Error('no answer'); });
Deno.test('never answers', async () => { await new Promise(r => setTimeout(r, 20000)); });
