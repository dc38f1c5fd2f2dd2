'use strict'
const test = require('node:test')

test('is quick', () => {})
test('is killed', async () => {
  await new Promise((resolve) => setTimeout(resolve, 300))
  process.kill(process.ppid, 'SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, 3000))
})
