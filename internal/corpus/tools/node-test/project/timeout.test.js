'use strict'
const test = require('node:test')

test('is quick', () => {})
test('never ends', { timeout: 200 }, () => new Promise((resolve) => setTimeout(resolve, 2000)))
