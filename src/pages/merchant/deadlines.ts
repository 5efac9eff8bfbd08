import type { BookOrder } from './applyEvent.js'
import { mostOf } from './exposure.js'
import { isOfToken, orderToken, type PagesShop } from './shop.js'

type Token = ReturnType<typeof orderToken>

/** The orders whose windows end in one span of time. */
export type DeadlineSpan = {
  label: string
  orders: readonly BookOrder[]
  /** The most that their signatures can move, for each token. */
  sums: readonly { token: Token; value: bigint }[]
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
): DeadlineSpan['sums'] {
  const sums: { token: Token; value: bigint }[] = []
  for (const order of orders) {
    const token = orderToken(shop, order)
    const value = mostOf(order, token.decimals)
    const known = sums.find((one) => isOfToken(one.token, token))
    if (known) known.value += value
    else sums.push({ token, value })
  }
  return sums
}
