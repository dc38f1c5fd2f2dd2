require('./not-there');
QUnit.test('never runs', () => {});
