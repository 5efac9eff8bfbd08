import type { SubmitterState } from './submitterState.js'

/** What we ask a wallet to send: orders, or fillers of account nonces. */
export type AskedFor = 'order' | 'filler'

/** The longest pause, as a multiple of the first. */
const longest = 16

/**
 * Pauses requests to a wallet that declined or failed, for longer each time: it
 * would probably fail at the next request too.
 *
 * @param seconds the first pause.
 */
export function restWallet(
  { asked }: Pick<SubmitterState, 'asked'>,
  what: AskedFor,
  seconds: number,
): void {
  const tries = asked.rests.get(what)?.tries ?? 0
  const pause = seconds * 1000 * Math.min(2 ** tries, longest)
  const until = performance.now() + pause
  asked.rests.set(what, { until, tries: tries + 1 })
}

/**
 * True while we do not ask the wallet for this. A failed order does not pause
 * fillers, because others wait behind the nonces they fill.
 */
export function isResting(
  { asked }: Pick<SubmitterState, 'asked'>,
  what: AskedFor,
): boolean {
  const now = performance.now()
  const rests = (one: AskedFor) => now < (asked.rests.get(one)?.until ?? now)
  return rests('filler') || (what === 'order' && rests('order'))
}
