import type { AttemptRecord } from '../../store/types.js'

/** Unix seconds from which a transaction of each kind is too late. */
export type AttemptEnds = Readonly<Record<'capture' | 'cancel', bigint>>

/**
 * Computes when transactions of a payment attempt are too late. A capture is
 * too late when the window of its signature is over; a cancellation, when the
 * windows of all signatures for the payment nonce are over. Pure.
 */
export function endsOf(attempt: AttemptRecord): AttemptEnds {
  return {
    capture: attempt.signedBefore ?? attempt.validBefore,
    cancel: lastSecondOf(attempt),
  }
}

/** Unix seconds from which no known signature of the attempt is valid. */
export function lastSecondOf(attempt: AttemptRecord): bigint {
  const ends = [
    attempt.validBefore,
    attempt.signedBefore ?? 0n,
    attempt.spendableUntil ?? 0n,
  ]
  return ends.reduce((last, end) => (end > last ? end : last))
}
