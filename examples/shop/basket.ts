import { formatAmount, parseAmount } from 'countersign'
import { type Product, products } from './products.js'
import { token } from './token.js'

/** How many of each product, by its id. */
export type Basket = Readonly<Record<string, number>>

export type Line = { product: Product; count: number }

/** Of one product in one order. */
export const maxCount = 20

/** The lines of a basket. Drops what the shop does not sell. */
export function linesOf(basket: unknown): Line[] {
  return products.flatMap((product) => {
    const count: unknown = Object(basket)[product.id]
    const isSold =
      typeof count === 'number' &&
      Number.isInteger(count) &&
      count > 0 &&
      count <= maxCount
    return isSold ? [{ product, count }] : []
  })
}

/** What lines cost together, a decimal in whole tokens. */
export function totalOf(lines: readonly Line[]): string {
  const units = lines.map(
    ({ product, count }) =>
      parseAmount(product.amount, token.decimals) * BigInt(count),
  )
  return formatAmount(
    units.reduce((sum, one) => sum + one, 0n),
    token.decimals,
  )
}

/** Lines in words, such as `2 × House Blend, 250 g; Pour-Over Kit`. */
export function describeLines(lines: readonly Line[]): string {
  return lines
    .map(({ product: { name }, count }) =>
      count > 1 ? `${count} × ${name}` : name,
    )
    .join('; ')
}
