export function same(a, b) {
  if (a == b) {
    debugger
  }
  return a
}
