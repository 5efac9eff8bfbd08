import type { ChannelRecord } from '../../store/types.js'

/**
 * Plans what follows when the payer announces a withdrawal: the channel takes no
 * more requests, and is claimed at once. The announcement may be pre-confirmed.
 *
 * @param announced.at Unix seconds of the block that announces it.
 */
export function planWithdrawal(
  channel: ChannelRecord,
  { value, at }: { value: bigint; at: bigint },
  now: bigint,
): ChannelRecord {
  const isOwed = channel.charged > channel.claimed
  const stopped =
    channel.reason === 'merchant'
      ? { state: channel.state, reason: channel.reason }
      : { state: 'stopped' as const, reason: 'withdrawal' }
  return {
    ...channel,
    ...stopped,
    withdrawing: value,
    withdrawableAt: at + BigInt(channel.withdrawDelay),
    due: isOwed ? now : channel.due,
  }
}
