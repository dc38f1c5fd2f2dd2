QUnit.test('throws later', async assert => { setTimeout(() => { throw new Error('thrown later'); }, 10); assert.ok(true); await new Promise(r => setTimeout(r, 100)); });
