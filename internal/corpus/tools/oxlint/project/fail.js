export function same(a) {
  debugger
  return a === NaN
}
