const t = require('tap');
const noise = require('fs').readFileSync(__dirname + '/noise.txt', 'utf8');
t.test('prints failures of others', async t => { console.error(noise); t.ok(true); });
