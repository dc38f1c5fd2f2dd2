export default { build: { lib: { entry: process.env.ENTRY, formats: ['es'], fileName: 'out' } }, logLevel: 'info' }
