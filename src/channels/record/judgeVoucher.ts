import type { ChannelRecord } from '../../store/types.js'

/** Why a voucher does not pay for a request. */
type VoucherRefusal =
  /** The deposit does not cover it: the payer must deposit more. */
  | 'exceedsBalance'
  /** It is not for the sum of all charges and the price of this request. */
  | 'wrongAmount'
  /** It allows no more than what was claimed already. */
  | 'belowClaimed'
  /** The channel takes no more requests, or not up to this sum. */
  | 'stopped'
  /** More would be owed than the policy allows before a claim. */
  | 'tooMuchUnclaimed'

export type JudgedVoucher = { ok: true } | { ok: false; reason: VoucherRefusal }

/**
 * Judges whether a voucher with a valid signature pays for a request at a price.
 * It must allow exactly the sum of all charges and the price.
 *
 * @param asked.price base units of the token.
 */
export function judgeVoucher(
  channel: ChannelRecord,
  asked: { maxClaimable: bigint; price: bigint },
  { mostUnclaimed }: { mostUnclaimed?: bigint | undefined } = {},
): JudgedVoucher {
  const { maxClaimable, price } = asked
  const { charged, claimed } = channel
  const refuse = (reason: VoucherRefusal): JudgedVoucher => ({
    ok: false,
    reason,
  })
  if (maxClaimable <= claimed) return refuse('belowClaimed')
  if (maxClaimable !== charged + price) return refuse('wrongAmount')
  const left = leftOf(channel)
  if (left === undefined) return refuse('stopped')
  if (maxClaimable > left)
    return refuse(channel.state === 'stopped' ? 'stopped' : 'exceedsBalance')
  const owed = maxClaimable - claimed
  return mostUnclaimed !== undefined && owed > mostUnclaimed
    ? refuse('tooMuchUnclaimed')
    : { ok: true }
}

/**
 * Returns the base units that a channel can be charged in all, whatever its payer
 * does: a withdrawal that is announced takes at most what it says. Returns
 * `undefined` if the channel takes no more requests.
 */
export function leftOf({
  state,
  reason,
  balance,
  withdrawing,
}: Pick<ChannelRecord, 'state' | 'reason' | 'balance' | 'withdrawing'>):
  | bigint
  | undefined {
  if (state === 'stopped' && reason !== 'withdrawal') return undefined
  return balance - withdrawing
}
