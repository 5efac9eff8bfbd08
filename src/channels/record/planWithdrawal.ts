import type { ChannelRecord } from '../../store/types.js'
import { claimSoon } from './claimSoon.js'

/**
 * Plans what follows when the payer announces a withdrawal: the channel takes
 * requests only up to what is left after it, and is claimed at once. The
 * announcement may be pre-confirmed.
 *
 * @param now Unix seconds.
 */
export function planWithdrawal(
  channel: ChannelRecord,
  { value, withdrawableAt }: { value: bigint; withdrawableAt: bigint },
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
    withdrawableAt,
    due: isOwed ? claimSoon(channel.due, now) : channel.due,
  }
}
