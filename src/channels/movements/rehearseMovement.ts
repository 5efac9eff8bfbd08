import type { Address, Client, Hex } from 'viem'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { same } from '../../core/receiptProof.js'
import { tokenSignature } from '../../core/signature.js'
import type { SettlingCall } from '../../payments/kind.js'
import {
  depositCall,
  refundCall,
  refundWithSignatureCall,
} from '../contract/channelCalls.js'
import { getChannel } from '../contract/getChannel.js'
import type { ChannelCall } from '../contract/types.js'
import { normalizeVoucherSignature } from '../contract/voucherSignature.js'
import { movementReason } from './channelRefusal.js'
import { estimateCall } from './estimateCall.js'
import { findMovement } from './findMovement.js'
import type { ChannelMovement, MovementOf } from './movementTerms.js'
import { rehearseClaim } from './rehearseClaim.js'

/** The sender of a movement, and the movement's opened secret. */
export type MovementSender = {
  account: Address
  /** A signature, or those of a claim as JSON text. Never log it. */
  secret: string
}

/**
 * Simulates a movement as the account that would send it, and returns its
 * transaction.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function rehearseMovement(
  client: Client,
  payment: ChannelMovement,
  sender: MovementSender,
): Promise<SettlingCall> {
  switch (payment.movement.action) {
    case 'deposit':
      return rehearseDeposit(client, payment as MovementOf<'deposit'>, sender)
    case 'claim':
      return rehearseClaim(client, payment as MovementOf<'claim'>, sender)
    case 'refund':
      return rehearseRefund(client, payment as MovementOf<'refund'>, sender)
  }
}

async function rehearseDeposit(
  client: Client,
  { movement, ...unsigned }: MovementOf<'deposit'>,
  { account, secret }: MovementSender,
): Promise<SettlingCall> {
  const { config, salt } = movement
  const signature = tokenSignature(secret)
  if (!signature) return { ok: false, reason: 'malformedSignature' }
  const { primaryType, domain, message } = unsigned
  const payment = { primaryType, domain, message, signature }
  const call = depositCall({ config, payment, salt })
  return estimateMovement(client, account, movement, call)
}

/**
 * A refund waits for the claim of all charges: if the payer's withdrawal came
 * in between, the contract would pay the refund from what is not claimed.
 */
async function rehearseRefund(
  client: Client,
  payment: MovementOf<'refund'>,
  { account, secret }: MovementSender,
): Promise<SettlingCall> {
  const { movement, message } = payment
  const { channelId, config, refundNonce, charged } = movement
  const { value } = message
  const channel = await getChannel(client, { channelId })
  if (channel.refundNonce !== refundNonce)
    return {
      ok: false,
      reason: (await isRefunded(client, payment)) ? 'consumed' : 'wrongNonce',
    }
  const { balance, claimed } = channel
  if (claimed < charged) return { ok: false, reason: 'unclaimedCharges' }
  if (balance - claimed < value)
    return { ok: false, reason: 'channelWithdrawn' }
  const signature = normalizeVoucherSignature(secret as Hex)
  const call = signature
    ? refundWithSignatureCall({ config, value, nonce: refundNonce, signature })
    : same(account, config.receiver) && refundCall({ config, value })
  if (!call) return { ok: false, reason: 'malformedSignature' }
  return estimateMovement(client, account, movement, call)
}

async function isRefunded(
  client: Client,
  payment: MovementOf<'refund'>,
): Promise<boolean> {
  const head = await getBlockHead(client, 'latest')
  if (!head) return false
  const since = payment.message.validAfter
  const range = { since, toBlock: head.number }
  return (await findMovement(client, payment, range)) !== undefined
}

async function estimateMovement(
  client: Client,
  account: Address,
  movement: ChannelMovement['movement'],
  call: ChannelCall,
): Promise<SettlingCall> {
  const estimated = await estimateCall(client, account, call)
  return estimated.ok
    ? estimated
    : { ok: false, reason: movementReason(movement, estimated.refusal) }
}
