import type { ChannelRecord } from '../../store/types.js'
import { withSettlement } from '../gate/answers.js'
import type { ChannelRefundVerdict } from '../gate/channelDesk.js'
import type { Refusal } from '../gate/types.js'
import { settlementOf } from './channelState.js'
import { correctCall, refuseStopped } from './judgePaid.js'
import { built, busy, refusedBy } from './refusals.js'
import type { Reply, SignedCall } from './types.js'

/**
 * Pays back the rest of a deposit, or a part of it, to a client that sends a
 * voucher for exactly the sum of all charges.
 */
export async function serveRefund(call: SignedCall): Promise<Reply> {
  const { desk, named, asked, payload, terms, gate } = call
  const known = (await desk.load(named.id)) ?? (await desk.adopt(named))
  if (!known) return built(refusedBy(asked, 'channel_not_found'))
  const channel = await desk.refresh(known)
  const { charged, claimed, balance } = channel
  if (payload.maxClaimable < claimed)
    return built(refusedBy(asked, 'cumulative_below_claimed'))
  if (payload.maxClaimable !== charged)
    return built(await correctCall(call, channel))
  if (channel.reason === 'withdrawal')
    return built(await refuseStopped(call, channel))
  // A block must have the deposit first.
  if (channel.reason === 'preconfirmed') return built(busy)
  const left = balance - charged
  if (left <= 0n) return built(refusedBy(asked, 'refund_no_balance'))
  const value = payload.refund ?? left
  if (value === 0n || value > left)
    return built(refusedBy(asked, 'refund_amount_invalid'))
  // A refund that was sent and not made must be asked for again.
  const isBegun = channel.reason === 'refund'
  if (!isBegun && !isEarned(channel, left, terms))
    return built(
      refusedBy(
        asked,
        'refund_amount_invalid',
        'Nothing is charged that is not claimed, so this refund costs the shop too much gas. Withdraw on chain.',
      ),
    )
  // The shop pays the gas: small refunds would cost more than they move.
  if (value < left && value < terms.channel.minDeposit)
    return built(
      refusedBy(
        asked,
        'refund_amount_invalid',
        `Ask for everything that is left, or for at least the minDeposit of the offer, ${terms.channel.minDeposit}.`,
      ),
    )
  const { timeout } = gate
  const verdict = await desk.refund({ id: named.id, value }, { timeout })
  return built(explain(call, verdict))
}

/**
 * Decides only whether the shop pays the gas of a refund: its amount is limited
 * before, and the channel's refund nonce allows it once. Once all charges are
 * claimed, the voucher that asks for it is public. And without this limit, a
 * payer could deposit and ask for refunds again and again, at the shop's cost.
 * While anything is charged and not claimed, however little, only the payer has
 * the voucher, paid for a request since the last claim, and the shop has to
 * claim anyway.
 */
function isEarned(
  { charged, claimed, refundNonce }: ChannelRecord,
  left: bigint,
  { value: price, channel }: SignedCall['terms'],
): boolean {
  if (charged > claimed) return true
  return left >= channel.minDeposit && charged >= (refundNonce + 1n) * price
}

function explain(
  { asked, named }: SignedCall,
  verdict: ChannelRefundVerdict,
): Refusal {
  if (verdict.ok) {
    const { channel, transaction, value } = verdict
    const sent = { transaction, value }
    const body = { message: 'Refund acknowledged', channelId: named.id }
    return () =>
      withSettlement(Response.json(body), settlementOf({ channel, sent }))
  }
  if (verdict.reason === 'inFlight') return busy
  return refusedBy(
    asked,
    verdict.reason === 'nothingLeft'
      ? 'refund_no_balance'
      : 'refund_transaction_failed',
  )
}
