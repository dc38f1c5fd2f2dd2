import { add } from './add.js'
import { helper } from './helpers.js'

export const x = helper(add)
