import type { LaneState } from './laneState.js'
import type { LaneView } from './readLane.js'

/** Seconds by which a head may be ahead of the last one at first sight. */
const usualStep = 600n

/** Looks in a row after which a head further ahead is believed. */
const confirmedBy = 3

/**
 * Decides whether to work with what a look shows. A head far ahead of the last
 * one can be of another network, and every window would seem to be over.
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
