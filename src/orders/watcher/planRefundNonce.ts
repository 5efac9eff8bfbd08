import type { Hex } from 'viem'
import type { AttemptRecord, ProofRecord } from '../../store/types.js'
import { refundNonce } from '../model/refundNonce.js'
import { isPayment, isReleased, sumRefunds } from '../model/refundRow.js'
import type { RefundRow, StoredOrder } from '../model/storedOrder.js'

/** The payment that a refund pays back. */
export type RefundedPayment = {
  /** The order with all its refunds. */
  found: StoredOrder
  paid: AttemptRecord
  proof: ProofRecord
}

/** Finds the payment that a refund pays back, if it is still captured. Pure. */
export function refundedPayment(
  found: StoredOrder,
  { refundAttempt, refundTo }: RefundRow,
): RefundedPayment | undefined {
  const paid = found.attempts.find(({ number }) => number === refundAttempt)
  const proof = found.proofs.find(
    (one) => isPayment(one) && one.attempt === refundAttempt,
  )
  return paid && proof && proof.payer === refundTo
    ? { found, paid, proof }
    : undefined
}

/** The nonce of a payment's refund. Pure. */
export function nonceOf(
  { paid, proof }: Pick<RefundedPayment, 'paid' | 'proof'>,
  index: number,
): Hex {
  const { chainId, token, payer } = proof
  return refundNonce({ chainId, token, payer, nonce: paid.nonce, index })
}

/** The next nonce to sign, or `otherRefund` while an earlier refund is open. */
export type NextNonce =
  | { index: number; nonce: Hex; holder: AttemptRecord | undefined }
  | 'otherRefund'

/**
 * Finds the first of a payment's refund nonces that may be unspent. Each nonce
 * before it was used or canceled in a final block. Pure.
 *
 * @param holders the attempts of refunds that have one of the nonces.
 */
export function nextNonce(
  payment: RefundedPayment,
  row: Pick<RefundRow, 'id'>,
  holders: readonly AttemptRecord[],
): NextNonce {
  const { refunds = [] } = payment.found
  for (let index = 0; ; index++) {
    const nonce = nonceOf(payment, index)
    const holder = holders.find((one) => one.nonce === nonce)
    const other = refunds.find((one) => one.row.id === holder?.orderId)?.row
    if (!holder || !other || other.id === row.id)
      return { index, nonce, holder }
    const isFinal = other.finality === 'finalized'
    if (isFinal && ['captured', 'canceled'].includes(other.state)) continue
    // A refund that was voided before it was signed, or that expired, never
    // used its nonce.
    return isReleased(other) ? { index, nonce, holder } : 'otherRefund'
  }
}

/**
 * True when the payment has enough left for a refund, after its other refunds.
 * Pure.
 */
export function fits(found: StoredOrder, row: RefundRow): boolean {
  const others = (found.refunds ?? [])
    .map((one) => one.row)
    .filter(({ id }) => id !== row.id)
  return row.value <= sumRefunds(found, others, row.refundAttempt).refundable
}
