import { helper } from './helper.js'
import left from 'left-pad'

export const x = helper(left)
