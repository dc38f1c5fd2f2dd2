import test from 'ava';
test.before(() => { throw new Error('database is not ready'); });
test('needs the hook', t => { t.pass(); });
