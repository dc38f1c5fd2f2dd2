export function broken(a: number {
  return a
}
