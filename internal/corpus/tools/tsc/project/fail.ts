interface Item { price: number; name: string }

export function total(items: Item[]): number {
  return items.map((i) => i.cost).reduce((a, b) => a + b, 0)
}

const first: Item = { price: "3", name: "a" }
export const n: number = missing(first)
