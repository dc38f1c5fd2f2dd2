QUnit.test('passes before', assert => { assert.ok(true); });
QUnit.test('exits', assert => { process.exit(3); });
QUnit.test('passes behind', assert => { assert.ok(true); });
