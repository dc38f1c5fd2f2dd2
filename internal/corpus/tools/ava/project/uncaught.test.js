import test from 'ava';
test('passes', async t => { setTimeout(() => { throw new Error('thrown later'); }, 20); await new Promise(r => setTimeout(r, 200)); t.pass(); });
