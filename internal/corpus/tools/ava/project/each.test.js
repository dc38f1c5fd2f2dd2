import test from 'ava';
test.afterEach(t => { if (t.title.includes('leaks')) throw new Error('the connection is still open'); });
test('leaks', t => { t.pass(); });
test('is clean', t => { t.pass(); });
