import test from 'ava';
test('never runs', t => { const x = ; });
