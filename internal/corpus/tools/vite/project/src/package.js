import left from 'left-pad'

export const x = left('a', 3)
