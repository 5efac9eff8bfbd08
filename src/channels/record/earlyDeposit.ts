import type { ChannelRecord } from '../../store/types.js'
import { aheadReason, markAhead } from './aheadOfChain.js'
import { coveredState } from './copyChain.js'

/**
 * Plans the credit of a pre-confirmed deposit. Returns `undefined` if the channel
 * cannot take it: its balance has changed since the deposit was put on record, so
 * that it may count it already, the deposit has ended meanwhile, so that nobody
 * would take the credit back, or the channel would stay stopped.
 *
 * @param before balance when the deposit was put on record, in base units.
 */
export function creditEarly(
  channel: ChannelRecord,
  {
    depositId,
    before,
    value,
  }: { depositId: string; before: bigint; value: bigint },
): ChannelRecord | undefined {
  if (channel.balance !== before || channel.reason === 'refund')
    return undefined
  if (channel.depositId !== depositId) return undefined
  const credited = { ...channel, balance: before + value }
  const marked = markAhead({ ...credited, ...coveredState(credited) })
  return marked.reason === aheadReason ? marked : undefined
}

/**
 * Plans what follows when a deposit is final, or will not be made: the next copy
 * of the chain decides what the channel has.
 */
export function letGoDeposit(channel: ChannelRecord): ChannelRecord {
  const kept = { ...channel, depositId: undefined }
  return channel.reason === aheadReason ? { ...kept, reason: undefined } : kept
}
