import type { LaneState } from './laneState.js'

/** What a wallet is asked for: orders, or fillers of account nonces. */
export type AskedFor = 'order' | 'filler'

/** Times the first pause, beyond which no pause grows. */
const longest = 16

/**
 * Lets a wallet rest that did not do what it was asked for, each time for
 * longer: the next thing it is asked for could end the same way.
 *
 * @param seconds the first pause.
 */
export function restWallet(
  { asked }: Pick<LaneState, 'asked'>,
  what: AskedFor,
  seconds: number,
): void {
  const tries = asked.rests.get(what)?.tries ?? 0
  const pause = seconds * 1000 * Math.min(2 ** tries, longest)
  const until = performance.now() + pause
  asked.rests.set(what, { until, tries: tries + 1 })
}

/**
 * True while the wallet is not asked for this. Fillers are asked for although
 * an order failed: others wait behind the account nonce they fill.
 */
export function isResting(
  { asked }: Pick<LaneState, 'asked'>,
  what: AskedFor,
): boolean {
  const now = performance.now()
  const rests = (one: AskedFor) => now < (asked.rests.get(one)?.until ?? now)
  return rests('filler') || (what === 'order' && rests('order'))
}
