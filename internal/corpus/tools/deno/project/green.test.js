import { add } from './lib.js';
Deno.test('adds', () => { if (add(1, 2) !== 3) throw new Error('no'); });
Deno.test.ignore('later', () => {});
