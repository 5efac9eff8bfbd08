import type { OrderRecord } from '../../store/types.js'

type Scheduled = Pick<OrderRecord, 'subscriptionId' | 'chargeId'>

/**
 * True if the order belongs to the schedule of a subscription. No buyer pays it
 * at a checkout; only the schedule tries it again and ends it.
 */
export function isScheduled({
  subscriptionId,
}: Pick<Scheduled, 'subscriptionId'>): boolean {
  return subscriptionId !== undefined
}

/**
 * True for the order that holds what the payer signed for a schedule. It is
 * never captured itself: its charges are orders of their own.
 */
export function holdsPermission(order: Scheduled): boolean {
  return isScheduled(order) && order.chargeId === undefined
}
