export const a = 1
export function broken( {
  return a
