import x from './not-there.js';
Deno.test('never runs', () => {});
