import type { ChannelRecord } from '../../store/types.js'
import type { ChannelTerms } from './types.js'

/** Plans the row of a channel that the chain may not have yet. */
export function newChannel(
  terms: ChannelTerms,
  now: bigint,
): Omit<ChannelRecord, 'version' | 'position'> {
  return {
    ...terms,
    state: 'opening',
    reason: undefined,
    charged: 0n,
    signed: 0n,
    voucher: undefined,
    balance: 0n,
    claimed: 0n,
    withdrawing: 0n,
    withdrawableAt: undefined,
    refundNonce: 0n,
    seenBlock: 0n,
    seenAt: 0n,
    depositId: undefined,
    unclaimedSince: undefined,
    due: undefined,
    usedAt: now,
  }
}
