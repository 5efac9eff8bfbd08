import type { BookOrder } from './applyEvent.js'

export type OrderNeed = {
  order: BookOrder
  /** The reason, in a sentence. */
  why: string
}

/** A stored order is urgent if its window ends in fewer seconds than this. */
const urgent = 300

/**
 * Lists the orders that need a person, with one reason each: the one that costs
 * most if it is overlooked.
 */
export function findNeeds(
  orders: Iterable<BookOrder>,
  now: number,
): readonly OrderNeed[] {
  const found: (OrderNeed & { rank: number })[] = []
  for (const order of orders) {
    const at = reasons.findIndex(([applies]) => applies(order, now))
    const why = reasons[at]?.[1]
    if (why) found.push({ order, why, rank: at })
  }
  return found
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(a.order.validBefore) - Number(b.order.validBefore),
    )
    .map(({ order, why }) => ({ order, why }))
}

const reasons: readonly (readonly [
  applies: (order: BookOrder, now: number) => boolean,
  why: string,
])[] = [
  [({ overpaid }) => overpaid, 'It was paid twice: refund one payment.'],
  [
    ({ unexpected, refundable }) => unexpected && refundable !== '0',
    'It was paid although you gave it up: refund it.',
  ],
  [
    ({ refunds }) => refunds.at(-1)?.state === 'failed',
    'Its refund failed: see why, and request it again.',
  ],
  [
    ({ needsReview, state }) => needsReview && state === 'stored',
    'Its payer needs a review before you capture.',
  ],
  [
    ({ isCancelKept, state, requested }) =>
      isCancelKept === true && state === 'stored' && !requested,
    'The buyer asks to cancel: approve it, or capture.',
  ],
  [
    ({ state, reason }) => state === 'stored' && reason !== undefined,
    'Its capture was refused: see why, and capture again.',
  ],
  [
    ({ state, requested, validBefore }, now) =>
      state === 'stored' &&
      requested === undefined &&
      Number(validBefore) > now &&
      Number(validBefore) - now <= urgent,
    'Its window closes soon: capture it, or it expires.',
  ],
]
