'use strict'
const test = require('node:test')

test('cannot be parsed', () => {
  const a = ;
})
