const x = require('./not-there');
test('never runs', () => {});
