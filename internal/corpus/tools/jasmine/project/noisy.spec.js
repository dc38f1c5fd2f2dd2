const fs = require('fs');
const noise = fs.readFileSync(__dirname + '/noise.txt', 'utf8');
it('prints failures of others', () => { console.log(noise); console.error(noise); expect(1).toBe(1); });
