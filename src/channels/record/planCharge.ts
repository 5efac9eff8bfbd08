import type { ChannelRecord } from '../../store/types.js'
import type { ChannelsPolicy } from './types.js'

/** What a request charges, and the voucher that covers it. */
export type WantedCharge = {
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
 * which the channel is claimed; a large sum is claimed at once.
 */
export function planCharge(
  channel: ChannelRecord,
  { value, maxClaimable, voucher, now }: WantedCharge,
  { claimAfter, claimAt }: ClaimPolicy,
): ChannelRecord {
  const charged = channel.charged + value
  const isOwed = charged > channel.claimed
  const since = isOwed ? (channel.unclaimedSince ?? now) : undefined
  const isLarge = claimAt !== undefined && charged - channel.claimed >= claimAt
  const due = isLarge ? now : since && since + claimAfter
  return {
    ...channel,
    charged,
    signed: maxClaimable,
    voucher,
    unclaimedSince: since,
    due: earlier(channel.due, due),
    usedAt: now,
  }
}

function earlier(
  one: bigint | undefined,
  other: bigint | undefined,
): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}
