'use strict'
const test = require('node:test')
const assert = require('node:assert')
const { add, divide } = require('./calc.js')

test('adds', () => assert.strictEqual(add(1, 2), 3))

test.describe('numbers', () => {
  test.it('subtracts', () => {
    assert.strictEqual(add(5, -2), 2)
  })
  test.describe('division', () => {
    test.it('by zero', () => {
      divide(1, 0)
    })
  })
  for (const n of [1, 2]) {
    test.it(`is even: ${n}`, () => {
      assert.equal(n % 2, 0, `${n} is odd`)
    })
  }
})

test.describe('größe', () => {
  test.it('zählt ✗ umlaute', () => {
    assert.deepStrictEqual({ länge: 3 }, { länge: 4 })
  })
})

test('twice', () => assert.ok(true))
test('twice', () => {
  assert.ok(false, 'the second of the same name')
})
test('is skipped', { skip: true }, () => assert.fail('never runs'))
