import fs from 'node:fs';
import test from 'ava';
const noise = fs.readFileSync(new URL('./noise.txt', import.meta.url), 'utf8');
test('prints failures of others', t => { console.log(noise); console.error(noise); t.pass(); });
