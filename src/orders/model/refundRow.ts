import { type Hex, keccak256, stringToHex } from 'viem'
import type { OrderRecord, ProofRecord } from '../../store/types.js'
import type { RefundRow, StoredOrder } from './storedOrder.js'

export function isRefund(order: OrderRecord): order is RefundRow {
  return order.role === 'refund'
}

/**
 * Returns the id of a refund's row in the table of orders. It contains a tab,
 * so it cannot equal an order's id, which has no control characters.
 */
export function refundRowId(orderId: string, refundId: string): string {
  return `${orderId}\t${refundId}`
}

/** Returns the id that the merchant gave the refund. */
export function refundIdOf({
  id,
  parentId,
}: Pick<RefundRow, 'id' | 'parentId'>): string {
  return id.slice(parentId.length + 1)
}

export function isRefundRowId(id: string | undefined): boolean {
  return id?.includes('\t') === true
}

/**
 * Returns a placeholder nonce for an attempt that has no real one yet, or whose
 * nonce another refund used. The placeholder is unique, and is never signed.
 */
export function unsetNonce(rowId: string, number: number): Hex {
  return keccak256(stringToHex(`${rowId}\t${number}`))
}

/**
 * True when the attempt of a refund has a real nonce, and not a placeholder.
 */
export function hasNonce({
  orderId,
  number,
  nonce,
}: Pick<StoredOrder['attempt'], 'orderId' | 'number' | 'nonce'>): boolean {
  return nonce !== unsetNonce(orderId, number)
}

/**
 * True when a refund can never be paid any more, so that its amount is free for
 * other refunds: it was voided before it was signed, or a final block shows
 * that its nonce was canceled or its window has ended.
 */
export function isReleased({
  state,
  finality,
}: Pick<OrderRecord, 'state' | 'finality'>): boolean {
  if (state === 'voided') return true
  return (
    (state === 'expired' || state === 'canceled') && finality === 'finalized'
  )
}

/** The captured, refunded and reserved amounts of an order, in token units. */
export type RefundSums = {
  captured: bigint
  refunded: bigint
  reserved: bigint
  /** The amount that can still be refunded. */
  refundable: bigint
}

/**
 * Adds up the payments and refunds of an order.
 * @param attempt counts only the payment of this attempt. @default all payments
 */
export function sumRefunds(
  { proofs }: Pick<StoredOrder, 'proofs'>,
  refunds: readonly OrderRecord[],
  attempt?: number | undefined,
): RefundSums {
  const own = refunds.filter(
    ({ parentAttempt }) => attempt === undefined || parentAttempt === attempt,
  )
  const captured = sumOf(
    proofs.filter(
      (proof) =>
        isPayment(proof) &&
        (attempt === undefined || proof.attempt === attempt),
    ),
  )
  const refunded = sumOf(own.filter(({ state }) => state === 'captured'))
  const reserved = sumOf(
    own.filter((row) => row.state !== 'captured' && !isReleased(row)),
  )
  const left = captured - refunded - reserved
  return { captured, refunded, reserved, refundable: left > 0n ? left : 0n }
}

/** Finds the payment that settled a captured order. */
export function settlingPayment({
  order: { state, settledHash },
  proofs,
}: Pick<StoredOrder, 'order' | 'proofs'>): ProofRecord | undefined {
  if (state !== 'captured') return undefined
  return proofs.find(
    (proof) => isPayment(proof) && proof.transactionHash === settledHash,
  )
}

/** True for a stored payment that no reorganization removed. */
export function isPayment({
  kind,
  removed,
}: Pick<ProofRecord, 'kind' | 'removed'>): boolean {
  return kind === 'capture' && !removed
}

function sumOf(rows: readonly { value: bigint }[]): bigint {
  return rows.reduce((sum, { value }) => sum + value, 0n)
}
