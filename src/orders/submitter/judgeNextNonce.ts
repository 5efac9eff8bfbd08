import type { SubmitterView } from './readSubmitter.js'
import type { NonceClaim, SubmitterState } from './submitterState.js'

/** Looks in a row after which we believe such a nonce. */
const confirmedBy = 3

/**
 * Most transactions of other senders that we believe to be in the node's pool.
 * The mined count may be further ahead.
 */
export const mostForeign = 16

/**
 * Decides under which account nonce the submitter sends next. Pure.
 *
 * @returns `next: undefined` while the node's answers contradict each other or
 * the record, or have not been repeated often enough.
 */
export function judgeNextNonce(
  submitter: Pick<SubmitterState, 'value' | 'inFlight' | 'claim'>,
  { count, pendingCount }: Pick<SubmitterView, 'count' | 'pendingCount'>,
): { next: number | undefined; claim: NonceClaim | undefined } {
  const own = submitter.value.nextNonce
  const known = Math.max(own, count)
  if (pendingCount > known + mostForeign)
    return { next: undefined, claim: undefined }
  const reported = Math.max(count, pendingCount)
  if (reported > own) return confirm(submitter.claim, reported)
  const isUsed = submitter.inFlight.some(({ nonce }) => nonce >= reported)
  // Far ahead of the chain, and no transaction of ours is in between.
  if (own > reported + mostForeign && !isUsed)
    return confirm(submitter.claim, reported)
  return { next: own, claim: undefined }
}

function confirm(
  before: NonceClaim | undefined,
  nonce: number,
): { next: number | undefined; claim: NonceClaim } {
  const looks = before?.nonce === nonce ? before.looks + 1 : 1
  return {
    next: looks >= confirmedBy ? nonce : undefined,
    claim: { nonce, looks },
  }
}
