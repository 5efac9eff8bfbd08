import { endOfAuthorization } from '../../chain/state/getPaymentOutcome.js'
import {
  type CaptureProof,
  matches,
  type ProofReceipt,
  proofOf,
  proveCapture,
  same,
} from '../../core/receiptProof.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import { channelContract } from '../contract/channelDomain.js'
import { channelLogs } from './channelLogs.js'
import type { ChannelMovement, MovementOf } from './movementTerms.js'

type Proof = Omit<CaptureProof, 'finality'>

/**
 * Proves a movement from the receipt of its transaction. For claims and refunds,
 * the caller has checked that this transaction is of the movement.
 */
export function proveMovement(
  receipt: ProofReceipt,
  payment: ChannelMovement,
): Proof | undefined {
  switch (payment.movement.action) {
    case 'deposit':
      return proveDeposit(receipt, payment as MovementOf<'deposit'>)
    case 'claim':
      return proveClaim(receipt, payment as MovementOf<'claim'>)
    case 'refund':
      return proveRefund(receipt, payment as MovementOf<'refund'>)
  }
}

/** True when the payer canceled the authorization of a deposit. */
export function endsDeposit(
  receipt: ProofReceipt,
  payment: ChannelMovement,
): boolean {
  const isDeposit = payment.movement.action === 'deposit'
  return isDeposit && endOfAuthorization(receipt, payment) === 'canceled'
}

/**
 * The token must show that the authorization paid the collector, and the
 * contract that it credited the channel.
 */
function proveDeposit(
  receipt: ProofReceipt,
  payment: MovementOf<'deposit'>,
): Proof | undefined {
  const { channelId } = payment.movement
  const { value } = payment.message
  const isCredited = channelLogs(receipt, 'deposited').some(
    ({ event }) => event.channelId === channelId && event.value === value,
  )
  return isCredited ? proveCapture(receipt, payment) : undefined
}

/**
 * A claim is made if one of its channels reached its total, or something was
 * settled. The proof is the transfer that settled, with all that it moved: it
 * is this, and nothing else, that the receiver got. If nothing was settled, it
 * is the contract's event, with an amount of 0.
 */
function proveClaim(
  receipt: ProofReceipt,
  { movement: { receiver, token, rows } }: MovementOf<'claim'>,
): Proof | undefined {
  const claimed = channelLogs(receipt, 'claimed').find(({ event }) =>
    rows.some((row) => isClaimOf(event, row)),
  )
  const settled = channelLogs(receipt, 'settled').find(
    ({ event }) => event.receiver === receiver && event.token === token,
  )
  const transfer =
    settled &&
    receipt.logs.find(
      (log) =>
        same(log.address, token) &&
        same(log.data, `0x${word(settled.event.value)}`) &&
        matches(
          log,
          topics.transfer,
          `0x${word(channelContract)}`,
          `0x${word(receiver)}`,
        ),
    )
  if (transfer)
    return { ...proofOf(receipt, transfer), amount: settled.event.value }
  return claimed && { ...proofOf(receipt, claimed.log), amount: 0n }
}

/** True for the event that brought a channel to the total of a claim's row. */
export function isClaimOf(
  event: { channelId: string; claimed: bigint },
  row: { channelId: string; claimed: bigint },
): boolean {
  return event.channelId === row.channelId && event.claimed === row.claimed
}

/** The contract pays at most what is not claimed, so it may be less. */
function proveRefund(
  receipt: ProofReceipt,
  { message, movement: { channelId } }: MovementOf<'refund'>,
): Proof | undefined {
  const refunded = channelLogs(receipt, 'refunded').find(
    ({ event }) =>
      event.channelId === channelId && event.value <= message.value,
  )
  return (
    refunded && {
      ...proofOf(receipt, refunded.log),
      amount: refunded.event.value,
    }
  )
}
