import type { Hex } from 'viem'
import type { AttemptRecord, ProofRecord } from '../../store/types.js'
import { refundNonces } from '../model/refundNonce.js'
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
  { parentAttempt, payee }: RefundRow,
): RefundedPayment | undefined {
  const paid = found.attempts.find(({ number }) => number === parentAttempt)
  const proof = found.proofs.find(
    (one) => isPayment(one) && one.attempt === parentAttempt,
  )
  return paid && proof && proof.payer === payee
    ? { found, paid, proof }
    : undefined
}

/**
 * Computes the nonces that the payment's refund at an index can have on chain,
 * first the one to sign.
 */
export function noncesOf(
  { paid, proof }: Pick<RefundedPayment, 'paid' | 'proof'>,
  index: number,
): readonly [Hex, ...Hex[]] {
  const { chainId, token, payer } = proof
  return refundNonces({ chainId, token, payer, nonce: paid.nonce, index })
}

/** A nonce that a refund can have, and the attempt that was planned with it. */
export type HeldNonce = { nonce: Hex; holder: AttemptRecord | undefined }

/**
 * The next refund nonce to sign, or `otherRefund` while an earlier refund of
 * the payment is undecided.
 */
export type NextNonce =
  | {
      nonce: Hex
      /** All nonces of the same index. If one is used, none may be signed. */
      same: readonly HeldNonce[]
    }
  | 'otherRefund'

/**
 * Finds the first index of a payment's refunds whose nonces may be unused. Of
 * every index before it, a nonce was used or canceled in a final block.
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
    const nonces = noncesOf(payment, index)
    const same = nonces.map((nonce) => ({
      nonce,
      holder: holders.find((one) => one.nonce === nonce),
    }))
    const others = same.flatMap(({ holder }) => {
      const other = refunds.find((one) => one.row.id === holder?.orderId)?.row
      return other && other.id !== row.id ? [other] : []
    })
    // A refund that was voided before it was signed, or that expired, never
    // used its nonce, so this refund can take it.
    const open = others.filter((other) => !isReleased(other))
    if (open.some((other) => !isDecided(other))) return 'otherRefund'
    if (!others.some(isDecided)) return { nonce: nonces[0], same }
  }
}

/** True when a final block shows that the refund used its nonce. */
function isDecided({
  state,
  finality,
}: Pick<RefundRow, 'state' | 'finality'>): boolean {
  const isUsed = state === 'captured' || state === 'canceled'
  return isUsed && finality === 'finalized'
}

/** True when the payment, less its other refunds, still covers this refund. */
export function fits(found: StoredOrder, row: RefundRow): boolean {
  const others = (found.refunds ?? [])
    .map((one) => one.row)
    .filter(({ id }) => id !== row.id)
  return row.value <= sumRefunds(found, others, row.parentAttempt).refundable
}
