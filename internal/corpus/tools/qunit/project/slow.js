QUnit.test('answers', assert => { assert.ok(true); });
QUnit.test('fails first', assert => { assert.equal(1, 2); });
QUnit.test('never answers', async assert => { await new Promise(r => setTimeout(r, 20000)); });
