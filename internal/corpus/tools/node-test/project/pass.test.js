'use strict'
const test = require('node:test')
const assert = require('node:assert')
const { add } = require('./calc.js')

test('adds', () => assert.strictEqual(add(1, 2), 3))
test('prints what looks like failures', () => {
  console.log('not ok 1 - a line of a fixture')
  console.log('--- FAIL: TestOther (0.00s)')
  console.error('Error: connect ECONNREFUSED 127.0.0.1:5432')
  console.log('Tests: 1 failed, 3 passed, 4 total')
})
test('is skipped', { skip: 'not on this platform' }, () => assert.fail('never runs'))
test.describe('größe', () => {
  test.it('zählt ✓ umlaute', () => assert.ok(true))
})
