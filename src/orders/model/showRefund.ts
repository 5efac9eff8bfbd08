import { formatAmount } from '../../core/amount.js'
import type { OrderReason } from '../../store/types.js'
import {
  hasNonce,
  isPayment,
  isReleased,
  refundIdOf,
  settlingPayment,
  sumRefunds,
} from './refundRow.js'
import type {
  Refund,
  RefundFailure,
  RefundReason,
  RefundState,
} from './refundTypes.js'
import { showCapture } from './showCapture.js'
import type { RefundRow, StoredOrder } from './storedOrder.js'

/** Builds the public view of a refund. Pure. */
export function showRefund(stored: StoredOrder, row: RefundRow): Refund {
  const { attempt, proofs } = stored
  const { parentId: orderId, payee: to, value, decimals } = row
  const state = refundStateOf(row)
  const proof = proofs.find(
    (one) => isPayment(one) && one.transactionHash === row.settledHash,
  )
  const isOffered = hasNonce(attempt)
  return {
    refundId: refundIdOf(row),
    orderId,
    state,
    failure: state === 'failed' ? failureOf(row) : undefined,
    amount: formatAmount(value, decimals),
    value,
    to,
    reason: parseReason(row.metadata.reason),
    reserved: !isReleased(row),
    nonce: isOffered ? attempt.nonce : undefined,
    validBefore: isOffered
      ? (attempt.signedBefore ?? attempt.validBefore)
      : undefined,
    transfer:
      proof && state === 'succeeded'
        ? showCapture(proof, row.finality ?? 'included')
        : undefined,
  }
}

/**
 * The refunds of an order, and the amount that can still be refunded of the
 * payment that settled it.
 */
export function showRefunds(stored: StoredOrder): {
  refunds: readonly Refund[]
  refunded: bigint
  refundable: bigint
} {
  const rows = (stored.refunds ?? []).map(({ row }) => row)
  const settling = settlingPayment(stored)
  return {
    refunds: (stored.refunds ?? []).map((one) =>
      showRefund(one.stored, one.row),
    ),
    refunded: sumRefunds(stored, rows).refunded,
    refundable: settling
      ? sumRefunds(stored, rows, settling.attempt).refundable
      : 0n,
  }
}

export function refundStateOf({
  state,
  reason,
}: Pick<RefundRow, 'state' | 'reason'>): RefundState {
  switch (state) {
    case 'captured':
      return 'succeeded'
    case 'canceled':
      return 'canceled'
    case 'drafted':
      return 'requested'
    case 'expired':
    case 'voided':
    case 'consumed':
      return 'failed'
    default:
      return state === 'stored' && reason !== undefined ? 'failed' : 'sending'
  }
}

function failureOf({
  state,
  reason,
}: Pick<RefundRow, 'state' | 'reason'>): RefundFailure {
  if (state === 'consumed') return 'consumed'
  return refundFailure(reason ?? 'expired')
}

/**
 * Translates a reason about the refund's own payment into the words of the
 * order. The refund's payer is the order's recipient and its recipient the
 * order's payer, so the two are swapped.
 */
export function refundFailure(reason: OrderReason): RefundFailure {
  switch (reason) {
    case 'payerBlocked':
      return 'recipientBlocked'
    case 'recipientBlocked':
      return 'payerBlocked'
    case 'otherPayment':
      return 'exceedsCaptured'
    default:
      return reason
  }
}

/**
 * All reasons as an object, so that the compiler checks that none is missing.
 */
const reasons: Readonly<Record<RefundReason, RefundReason>> = {
  duplicate: 'duplicate',
  fraudulent: 'fraudulent',
  requestedByCustomer: 'requestedByCustomer',
}

export const refundReasons: readonly RefundReason[] =
  /* @__PURE__ */ Object.values(reasons)

function parseReason(value: unknown): RefundReason | undefined {
  return refundReasons.find((one) => one === value)
}
