const t = require('tap');
t.test('throws later', async t => { setTimeout(() => { throw new Error('thrown later'); }, 10); t.ok(true); await new Promise(r => setTimeout(r, 100)); });
