import type { LaneState } from './laneState.js'
import type { LaneView } from './readLane.js'

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
  lane: Pick<LaneState, 'headTime' | 'aheadLooks'>,
  { head: { timestamp } }: Pick<LaneView, 'head'>,
  now: bigint,
): boolean {
  const { headTime = now } = lane
  const isAhead = timestamp > headTime + usualStep
  lane.aheadLooks = isAhead ? lane.aheadLooks + 1 : 0
  if (isAhead && lane.aheadLooks < confirmedBy) return false
  lane.headTime = timestamp
  lane.aheadLooks = 0
  return true
}
