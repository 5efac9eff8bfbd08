import type { Hex } from 'viem'
import type { AttemptRecord, ProofRecord } from '../../store/types.js'
import { refundNonce } from '../model/refundNonce.js'
import { isPayment, isReleased, sumRefunds } from '../model/refundRow.js'
import type { RefundRow, StoredOrder } from '../model/storedOrder.js'

/** The payment that a refund returns to its payer. */
export type RefundedPayment = {
  /** The order that was paid, with all its refunds. */
  found: StoredOrder
  paid: AttemptRecord
  proof: ProofRecord
}

/** Finds the payment that a refund returns, if it is still captured. */
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

/** Computes the nonce of the payment's refund at an index. */
export function nonceOf(
  { paid, proof }: Pick<RefundedPayment, 'paid' | 'proof'>,
  index: number,
): Hex {
  const { chainId, token, payer } = proof
  return refundNonce({ chainId, token, payer, nonce: paid.nonce, index })
}

/**
 * The next refund nonce to sign, or `otherRefund` while an earlier refund of
 * the payment is undecided.
 */
export type NextNonce =
  | { index: number; nonce: Hex; holder: AttemptRecord | undefined }
  | 'otherRefund'

/**
 * Finds the first of a payment's refund nonces that may be unused. Every nonce
 * before it was used or canceled in a final block.
 * @param holders the attempts of refunds that were planned with one of the
 * nonces.
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
    // used its nonce, so this refund can take it.
    return isReleased(other) ? { index, nonce, holder } : 'otherRefund'
  }
}

/** True when the payment, less its other refunds, still covers this refund. */
export function fits(found: StoredOrder, row: RefundRow): boolean {
  const others = (found.refunds ?? [])
    .map((one) => one.row)
    .filter(({ id }) => id !== row.id)
  return row.value <= sumRefunds(found, others, row.refundAttempt).refundable
}
