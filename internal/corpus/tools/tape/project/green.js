const test = require('tape');
test('adds', (t) => { t.equal(1 + 2, 3); t.comment('note'); t.end(); });
test.skip('later', (t) => { t.end(); });
test('logs', (t) => { console.log(require('fs').readFileSync(__dirname + '/noise.txt', 'utf8').replace('not ok 1', 'not okay 1')); t.ok(true, 'fine'); t.end(); });
