import type { ChannelRecord } from '../../store/types.js'
import { leftOf } from './judgeVoucher.js'
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
  channel: OwingChannel,
  now: bigint,
  { claimAfter, claimAt }: Pick<ChannelsPolicy, 'claimAfter' | 'claimAt'>,
): bigint {
  const { state, charged, claimed, unclaimedSince = now } = channel
  const isLarge = claimAt !== undefined && charged - claimed >= claimAt
  const isUrgent = state === 'stopped' && !isServedOn(channel)
  if (isUrgent || isLarge) return now
  return unclaimedSince + claimAfter
}

type OwingChannel = Pick<
  ChannelRecord,
  | 'state'
  | 'reason'
  | 'balance'
  | 'charged'
  | 'claimed'
  | 'withdrawing'
  | 'withdrawableAt'
  | 'withdrawDelay'
  | 'unclaimedSince'
>

/**
 * True when all that a channel owes was charged after its payer announced a
 * withdrawal, which leaves it. A claim at once after each such charge would let
 * the payer waste your gas.
 */
function isServedOn(channel: OwingChannel): boolean {
  const { charged, unclaimedSince, withdrawableAt, withdrawDelay } = channel
  if (unclaimedSince === undefined || withdrawableAt === undefined) return false
  const announcedAt = withdrawableAt - BigInt(withdrawDelay)
  const left = leftOf(channel)
  return left !== undefined && charged <= left && unclaimedSince > announcedAt
}
