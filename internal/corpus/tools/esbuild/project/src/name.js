import { subtract } from './add.js'

export const x = subtract(1, 2)
