import type { AttemptRecord } from '../store/types.js'
import { lastSecondOf } from './findEvidence.js'

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
