'use strict'
const test = require('node:test')
const assert = require('node:assert')

test('is written', () => assert.ok(true))
test('is not written yet', { todo: 'later' }, () => assert.strictEqual(1, 2))
