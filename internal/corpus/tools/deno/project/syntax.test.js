Deno.test('never runs', () => { const x = ; });
