const noise = require('fs').readFileSync(__dirname + '/noise.txt', 'utf8').replace('not ok 1', 'inner not ok 1');
QUnit.test('prints failures of others', assert => { console.log(noise); console.error(noise); assert.ok(true); });
