QUnit.module('hooked', hooks => {
  hooks.before(() => { throw new Error('database is not ready'); });
  QUnit.test('needs the hook', assert => { assert.ok(true); });
});
