import type { AttemptRecord } from '../../store/types.js'

/**
 * Unix seconds from which a capture or a cancellation of an attempt is too
 * late.
 */
export type AttemptEnds = Readonly<Record<'capture' | 'cancel', bigint>>

/**
 * Computes when transactions of an attempt are too late. A capture is too late
 * once the window of its signature has ended. A cancellation is too late once
 * the windows of all signatures with this payment nonce have ended.
 */
export function endsOf(attempt: AttemptRecord): AttemptEnds {
  return {
    capture: attempt.signedBefore ?? attempt.validBefore,
    cancel: lastSecondOf(attempt),
  }
}

/**
 * Returns the Unix second from which no known signature of the attempt is
 * valid.
 */
export function lastSecondOf(attempt: AttemptRecord): bigint {
  const ends = [
    attempt.validBefore,
    attempt.signedBefore ?? 0n,
    attempt.spendableUntil ?? 0n,
  ]
  return ends.reduce((last, end) => (end > last ? end : last))
}
