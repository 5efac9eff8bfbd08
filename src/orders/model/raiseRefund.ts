import type { Address } from 'viem'
import type { StoreWriter } from '../../store/types.js'
import { withEvent } from './changes.js'
import { isReleased, sumRefunds } from './refundRow.js'
import { refundDataOf } from './settleOrder.js'
import type { StoredOrder } from './storedOrder.js'
import type { HasClock } from './types.js'

/**
 * Adds the event `refundDue` to an order, as part of the caller's database
 * transaction.
 */
export async function raiseRefund(
  { now }: HasClock,
  tables: StoreWriter,
  { order, attempt, proofs }: StoredOrder,
  { payer, reason }: { payer: Address; reason: string },
): Promise<void> {
  const proof = proofs.find(
    ({ removed, transactionHash }) =>
      !removed && transactionHash === order.settledHash,
  )
  const due = withEvent(order, {
    type: 'refundDue',
    at: now(),
    data: { reason, ...refundDataOf(attempt, payer, proof) },
  })
  await tables.orders.update([due.order])
  await tables.events.append([due.event])
}

/** True when some of the captured payment can still be refunded. */
export function isRefundable(stored: StoredOrder): boolean {
  const rows = (stored.refunds ?? []).map(({ row }) => row)
  return sumRefunds(stored, rows).refundable > 0n
}

/** True when the order has a refund that was paid or may still be paid. */
export function isPaidBack({
  refunds = [],
}: Pick<StoredOrder, 'refunds'>): boolean {
  return refunds.some(({ row }) => !isReleased(row))
}
