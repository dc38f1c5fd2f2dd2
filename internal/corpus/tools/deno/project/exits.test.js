Deno.test('passes before', () => {});
Deno.test('exits', () => { Deno.exit(3); });
Deno.test('passes behind', () => {});
