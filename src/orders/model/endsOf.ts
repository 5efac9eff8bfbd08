import type { AttemptRecord } from '../../store/types.js'

/** From when on a transaction of either kind comes too late, Unix seconds. */
export type AttemptEnds = Readonly<Record<'capture' | 'cancel', bigint>>

/**
 * A capture carries one signature, with its window; a cancellation ends all
 * that were ever given for the nonce. Pure.
 */
export function endsOf(attempt: AttemptRecord): AttemptEnds {
  return {
    capture: attempt.signedBefore ?? attempt.validBefore,
    cancel: lastSecondOf(attempt),
  }
}

/** From when on nothing signed for the attempt, as far as is known, is valid. */
export function lastSecondOf(attempt: AttemptRecord): bigint {
  const ends = [
    attempt.validBefore,
    attempt.signedBefore ?? 0n,
    attempt.spendableUntil ?? 0n,
  ]
  return ends.reduce((last, end) => (end > last ? end : last))
}
