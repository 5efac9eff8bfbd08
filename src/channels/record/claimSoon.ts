import type { ChannelRecord } from '../../store/types.js'
import type { ChannelsPolicy } from './types.js'

/**
 * Seconds after which a claim that was requested is looked at again. If it was
 * made, nothing is owed any more.
 */
export const checkAfter: bigint = 120n

/**
 * Returns when a channel is due that must be claimed at once. A claim may be on
 * its way if the channel is due soon anyway: it is not requested a second time.
 *
 * @param due current Unix seconds at which the channel is due.
 * @param now Unix seconds.
 */
export function claimSoon(due: bigint | undefined, now: bigint): bigint {
  return due !== undefined && due <= now + checkAfter ? due : now
}

/**
 * Returns when a channel that owes something is to be claimed by the policy.
 *
 * @param now Unix seconds.
 */
export function claimTime(
  channel: Pick<
    ChannelRecord,
    'state' | 'charged' | 'claimed' | 'unclaimedSince'
  >,
  now: bigint,
  { claimAfter, claimAt }: Pick<ChannelsPolicy, 'claimAfter' | 'claimAt'>,
): bigint {
  const { state, charged, claimed, unclaimedSince = now } = channel
  const isLarge = claimAt !== undefined && charged - claimed >= claimAt
  if (state === 'stopped' || isLarge) return now
  return unclaimedSince + claimAfter
}
