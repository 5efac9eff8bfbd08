import type { ChannelRecord } from '../../store/types.js'
import { claimSoon } from './claimSoon.js'
import type { ChannelsPolicy } from './types.js'

/** What a request charges, and the voucher that covers it. */
export type RequestCharge = {
  /** Base units of the token. */
  value: bigint
  /** Cumulative amount that the newest voucher allows, in base units. */
  maxClaimable: bigint
  /** The voucher's signature, encrypted by the sealer. */
  voucher: string
  /** Unix seconds. */
  now: bigint
}

type ClaimPolicy = Pick<ChannelsPolicy, 'claimAfter' | 'claimAt'>

/**
 * Plans a charge. The first charge that is not claimed starts the time after
 * which the channel is claimed; a large sum is claimed at once. Later charges
 * leave a time that is set, because a claim may be on its way.
 */
export function chargeChannel(
  channel: ChannelRecord,
  { value, maxClaimable, voucher, now }: RequestCharge,
  { claimAfter, claimAt }: ClaimPolicy,
): ChannelRecord {
  const charged = channel.charged + value
  const isOwed = charged > channel.claimed
  const since = isOwed ? (channel.unclaimedSince ?? now) : undefined
  const isLarge = claimAt !== undefined && charged - channel.claimed >= claimAt
  const usual = channel.due ?? (since && since + claimAfter)
  return {
    ...channel,
    charged,
    signed: maxClaimable,
    voucher,
    unclaimedSince: since,
    due: isLarge ? claimSoon(channel.due, now) : usual,
    usedAt: now,
  }
}
