import { formatAmount } from '../../core/amount.js'
import type { ProofRecord } from '../../store/types.js'
import { captureValueOf } from './kindOf.js'
import type { SettledCancellation } from './settledTypes.js'
import { showCapture } from './showCapture.js'
import { showRefunds } from './showRefund.js'
import type { StoredOrder } from './storedOrder.js'
import type { Order } from './types.js'

/** Builds the public view of an order, without credentials and row versions. */
export function showOrder(stored: StoredOrder): Order {
  const { order, attempt, attempts, proofs } = stored
  const settled = proofs.find(
    ({ kind, removed, transactionHash, orderId }) =>
      !removed &&
      orderId === order.id &&
      transactionHash === order.settledHash &&
      kind === (order.state === 'captured' ? 'capture' : 'cancel'),
  )
  const finality = order.finality ?? 'included'
  const { chainId, token, recipient, id, state, payer, decimals } = order
  const value = captureValueOf(order) ?? order.value
  return {
    chainId,
    token,
    recipient,
    id,
    state,
    attempt: order.attempt,
    nonce: attempt.nonce,
    payer,
    kind: order.kind,
    amount: formatAmount(value, decimals),
    value,
    atMost:
      order.total === 'atMost'
        ? formatAmount(order.value, decimals)
        : undefined,
    primaryType: order.primaryType,
    validAfter: attempt.validAfter,
    validBefore: attempt.validBefore,
    spendableUntil: spendableUntil(attempts),
    requested: isOver(order) ? undefined : order.requested,
    reason: order.reason,
    needsReview: order.needsReview,
    unexpected: order.unexpected,
    overpaid: order.overpaid,
    metadata: order.metadata,
    createdAt: order.createdAt,
    preconfirmed:
      order.finality === 'preconfirmed' ? order.settledHash : undefined,
    capture:
      settled && state === 'captured'
        ? showCapture(settled, finality)
        : undefined,
    cancellation:
      settled && state === 'canceled'
        ? showCancellation(settled, finality)
        : undefined,
    ...showRefunds(stored),
  }
}

/**
 * True when the chain decided the order. The view then hides `requested`. The
 * store keeps it, because it counts again if a reorg undoes the settlement.
 */
function isOver({ state }: StoredOrder['order']): boolean {
  return ['captured', 'canceled', 'consumed'].includes(state)
}

function spendableUntil(attempts: StoredOrder['attempts']): bigint | undefined {
  return attempts
    .flatMap(({ spendable, spendableUntil: until }) =>
      spendable && until !== undefined ? [until] : [],
    )
    .reduce<bigint | undefined>(
      (latest, until) =>
        latest === undefined || until > latest ? until : latest,
      undefined,
    )
}

function showCancellation(
  { transactionHash, blockNumber, blockTime }: ProofRecord,
  finality: SettledCancellation['finality'],
): SettledCancellation {
  return { transactionHash, blockNumber, blockTime, finality }
}
