'use strict'

exports.add = (a, b) => a + b
exports.divide = (a, b) => {
  if (b === 0) throw new RangeError('division by zero')
  return a / b
}
