import type { BookOrder } from './applyEvent.js'

export type CeilingLeft = {
  /** A decimal in whole tokens. */
  amount: string
  /** Unix seconds. */
  until: string
}

/**
 * Returns what a signed ceiling can still move, and until when: all of it,
 * until it is captured once. Returns nothing if it can move no more.
 */
export function ceilingLeft(
  { state, atMost, spendableUntil, validBefore }: BookOrder,
  now: number,
): CeilingLeft | undefined {
  const isSigned = ['stored', 'capturing', 'canceling', 'voided'].includes(
    state,
  )
  const until = spendableUntil ?? validBefore
  return atMost !== undefined && isSigned && Number(until) > now
    ? { amount: atMost, until }
    : undefined
}
