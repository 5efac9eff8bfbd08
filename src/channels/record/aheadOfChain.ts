import type { ChannelRecord } from '../../store/types.js'

/**
 * Reason of a channel whose balance counts a deposit that the chain has only
 * pre-confirmed.
 */
export const aheadReason = 'preconfirmed'

/**
 * True while the balance on record counts a deposit that no block has yet.
 *
 * @param balance what the chain shows, in base units.
 */
export const isAhead = (channel: ChannelRecord, balance: bigint): boolean =>
  channel.reason === aheadReason && balance < channel.balance

/** Marks a channel whose balance is ahead of the chain, if it is open. */
export const markAhead = (channel: ChannelRecord): ChannelRecord =>
  channel.state === 'open' ? { ...channel, reason: aheadReason } : channel
