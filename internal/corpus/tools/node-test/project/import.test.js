'use strict'
const test = require('node:test')
const { multiply } = require('./multiply.js')

test('multiplies', () => multiply(2, 2))
