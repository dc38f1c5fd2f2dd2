const fs = require('fs');
const noise = fs.readFileSync(__dirname + '/noise.txt', 'utf8').replace('  1 failing', '  inner failing');
it('prints failures of others', () => { console.log(noise); console.error(noise); });
