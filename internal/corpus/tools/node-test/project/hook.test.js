'use strict'
const test = require('node:test')
const assert = require('node:assert')

test.describe('with a server', () => {
  test.before(() => {
    throw new Error('the fixture has no port')
  })
  test.it('answers', () => assert.ok(true))
})
