import { isTestOrderId } from '../../core/testOrders.js'
import type { OrderEvent } from '../../orders/index.js'

/**
 * Watches an order's events, and says when its stream can end because no
 * important event can follow.
 */
export type StreamEnd = { note(event: OrderEvent): void; isReached(): boolean }

/**
 * Decides when the stream of an order can end. For a captured order, that is
 * after `fulfil`, or after both `refundDue` and `finalityRaised`. For a
 * canceled, consumed or test order, it is after `finalityRaised`. While a
 * refund is in progress, the stream stays open.
 */
export function watchEnd(): StreamEnd {
  let settled: 'captured' | 'canceled' | 'consumed' | undefined
  let isSure = false
  let isDue = false
  /** Ids of the refunds in progress. */
  const refunds = new Set<string>()
  return {
    note: (event) => {
      const { type } = event
      switch (type) {
        case 'captured':
        case 'canceled':
        case 'consumed':
          settled = type
          isSure = false
          isDue ||= isTestOrderId(event.orderId)
          break
        case 'reorged':
        case 'reauthorized':
          settled = undefined
          break
        case 'fulfil':
        case 'refundDue':
          isDue = true
          isSure ||= type === 'fulfil'
          break
        case 'finalityRaised':
          isSure = true
          break
        case 'refundRequested':
          refunds.add(event.data.refundId)
          break
        case 'refunded':
          refunds.delete(event.data.refundId)
          break
        case 'refundFailed':
          // The reorganization undid a refund, which is therefore sent again.
          if (event.data.reason === 'reorged') refunds.add(event.data.refundId)
          else refunds.delete(event.data.refundId)
      }
    },
    isReached: () =>
      settled !== undefined &&
      isSure &&
      (isDue || settled !== 'captured') &&
      refunds.size === 0,
  }
}
