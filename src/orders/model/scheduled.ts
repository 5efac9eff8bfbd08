import type { OrderRecord } from '../../store/types.js'

type Scheduled = Pick<OrderRecord, 'subscriptionId' | 'chargeId'>

/**
 * True if the order belongs to a subscription. No buyer pays such an order at a
 * checkout, and only the subscription's schedule retries or ends it.
 */
export function isScheduled({
  subscriptionId,
}: Pick<Scheduled, 'subscriptionId'>): boolean {
  return subscriptionId !== undefined
}

/**
 * True for the order that stores the spend permission of a subscription. This
 * order is never captured: each charge is an order of its own.
 */
export function holdsPermission(order: Scheduled): boolean {
  return isScheduled(order) && order.chargeId === undefined
}
