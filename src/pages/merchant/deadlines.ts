import type { BookOrder } from './applyEvent.js'
import { mostOf } from './exposure.js'
import type { PagesShop } from './shop.js'
import { splitByToken, type TokenAmount } from './splitByToken.js'

/** The orders whose windows end in one span of time. */
export type DeadlineSpan = {
  label: string
  orders: readonly BookOrder[]
  /** The most that their signatures can move, for each token. */
  sums: readonly TokenAmount[]
}

const spans: readonly (readonly [seconds: number, label: string])[] = [
  [900, 'within 15 minutes'],
  [3_600, 'within an hour'],
  [21_600, 'within 6 hours'],
  [86_400, 'within a day'],
  [604_800, 'within 7 days'],
  [Number.POSITIVE_INFINITY, 'later'],
]

/**
 * Groups the signed orders that are not captured by the end of their window,
 * the next one first. Leaves out spans without orders.
 */
export function findDeadlines(
  orders: Iterable<BookOrder>,
  { now, shop }: { now: number; shop: Pick<PagesShop, 'tokens'> },
): readonly DeadlineSpan[] {
  const open = [...orders]
    .filter(({ state }) => state === 'stored' || state === 'capturing')
    .filter(({ validBefore }) => Number(validBefore) > now)
    .sort((one, other) => Number(one.validBefore) - Number(other.validBefore))
  return spans.flatMap(([seconds, label], at) => {
    const from = now + (spans[at - 1]?.[0] ?? 0)
    const own = open.filter(({ validBefore }) => {
      const end = Number(validBefore)
      return end > from && end <= now + seconds
    })
    return own.length > 0
      ? [{ label, orders: own, sums: sumOf(own, shop) }]
      : []
  })
}

function sumOf(
  orders: readonly BookOrder[],
  shop: Pick<PagesShop, 'tokens'>,
): readonly TokenAmount[] {
  return splitByToken(orders, shop).map(({ token, orders: own }) => ({
    token,
    value: own.reduce((sum, order) => sum + mostOf(order, token.decimals), 0n),
  }))
}
