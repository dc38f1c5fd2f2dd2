export function total(items) {
  var unused = 1
  if (items == null) {
    return 0
  }
  return items.reduce((a, b) => a + b.price, 0)
}

export const shout = (s) => undefinedHelper(s)
