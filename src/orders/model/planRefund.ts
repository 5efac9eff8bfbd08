import { eip3009 } from '../../payments/kind.js'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
} from '../../store/types.js'
import { draftedOrder, unsignedAttempt } from './draftedRows.js'
import { refundRowId, unsetNonce } from './refundRow.js'
import type { RefundRow, StoredOrder } from './storedOrder.js'

/** The row of a refund and its first attempt, ready to insert. */
export type PlannedRefund = {
  order: Omit<RefundRow, 'version' | 'position'>
  attempt: Omit<AttemptRecord, 'version'>
}

/** Which payment of an order to refund, and how much. */
type RefundFacts = {
  /** The stored payment. Its payer gets the refund. */
  payment: Pick<ProofRecord, 'payer' | 'blockTime'>
  /** Number of the order's attempt whose payment is refunded. */
  attempt: number
  refundId: string
  value: bigint
  submitter: OrderRecord['submitter']
  metadata: OrderRecord['metadata']
}

/**
 * Plans the row of a refund, with nothing to sign yet. A refund is a payment of
 * the same token by the order's recipient, so the submitter sends it like any
 * other payment.
 */
export function planRefund(
  order: OrderRecord,
  { payment, attempt, refundId, value, submitter, metadata }: RefundFacts,
): PlannedRefund {
  const { chainId, token, recipient } = order
  const id = refundRowId(order.id, refundId)
  return {
    order: {
      ...draftedOrder,
      chainId,
      token,
      recipient,
      id,
      submitter,
      kind: eip3009.name,
      total: 'amount',
      value,
      decimals: order.decimals,
      // Any account may submit this type, so a recipient whose wallet is not
      // configured can refund too.
      primaryType: 'TransferWithAuthorization',
      tokenName: order.tokenName,
      tokenVersion: order.tokenVersion,
      payer: recipient,
      buyerTokenHash: unsetNonce(id, 0),
      metadata,
      // The search for the refund on chain starts at this time, because the
      // refund's nonce cannot have been used before the payment.
      createdAt: payment.blockTime,
      deadline: 0n,
      role: 'refund',
      parentId: order.id,
      parentAttempt: attempt,
      payee: payment.payer,
    },
    attempt: planAttempt({ chainId, token, id, value, recipient }, 1),
  }
}

/** Returns a new attempt of a refund whose last one can no longer be paid. */
export function nextAttempt(
  { attempts }: Pick<StoredOrder, 'attempts'>,
  row: RefundRow,
): Omit<AttemptRecord, 'version'> {
  const last = Math.max(...attempts.map(({ number }) => number))
  return planAttempt(row, last + 1)
}

function planAttempt(
  {
    chainId,
    token,
    id,
    value,
    recipient,
  }: Pick<OrderRecord, 'chainId' | 'token' | 'id' | 'value' | 'recipient'>,
  number: number,
): Omit<AttemptRecord, 'version'> {
  return {
    ...unsignedAttempt,
    chainId,
    token,
    orderId: id,
    number,
    nonce: unsetNonce(id, number),
    payer: recipient,
    validAfter: 0n,
    validBefore: 0n,
    value,
    terms: undefined,
  }
}
