import { add } from './add.js'

export const three = add(1, 2)
