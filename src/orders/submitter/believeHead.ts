import type { SubmitterView } from './readSubmitter.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Seconds by which a head may be ahead of the last one to be believed at once.
 */
const usualStep = 600n

/** Looks in a row after which we believe a head that is further ahead. */
const confirmedBy = 3

/**
 * Decides whether to rely on a look. A head far ahead of the last one may
 * belong to another network, and every window would seem to be over.
 *
 * @param now Unix seconds of this machine, for the first look.
 */
export function believeHead(
  submitter: Pick<SubmitterState, 'headTime' | 'aheadLooks'>,
  { head: { timestamp } }: Pick<SubmitterView, 'head'>,
  now: bigint,
): boolean {
  const { headTime = now } = submitter
  const isAhead = timestamp > headTime + usualStep
  submitter.aheadLooks = isAhead ? submitter.aheadLooks + 1 : 0
  if (isAhead && submitter.aheadLooks < confirmedBy) return false
  submitter.headTime = timestamp
  submitter.aheadLooks = 0
  return true
}
