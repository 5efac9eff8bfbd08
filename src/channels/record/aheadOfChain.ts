import { lowerOf } from '../../core/lowerOf.js'
import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import type { ChannelChain } from './types.js'

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

/**
 * Returns what a channel has: the balance on chain, and while the record is ahead
 * of it, what the deposit that was credited early can still bring. An earlier
 * deposit may have been undone by a reorganization meanwhile.
 */
export function balanceAhead(
  channel: ChannelRecord,
  chain: ChannelChain,
  deposit: OrderRecord | undefined,
): bigint {
  const { balance } = chain
  if (!isAhead(channel, balance)) return balance
  const comes = deposit && canCome(deposit, chain) ? deposit.value : 0n
  return lowerOf(channel.balance, balance + comes)
}

/** True while the balance of a block need not show a deposit yet. */
function canCome(
  { state, requested, settledBlock }: OrderRecord,
  { at }: ChannelChain,
): boolean {
  if (state === 'captured')
    return settledBlock !== undefined && settledBlock > at.blockNumber
  return (
    state === 'capturing' || (state === 'stored' && requested !== undefined)
  )
}

/** Marks a channel whose balance is ahead of the chain, if it is open. */
export const markAhead = (channel: ChannelRecord): ChannelRecord =>
  channel.state === 'open' ? { ...channel, reason: aheadReason } : channel
