const x = require('./not-there');
it('never runs', () => {});
