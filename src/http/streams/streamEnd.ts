import { isTestOrderId } from '../../core/testOrders.js'
import type { OrderEvent } from '../../orders/index.js'

/**
 * Watches the events of an order for the point after which no important one can
 * follow, so that the stream can end.
 */
export type StreamEnd = { note(event: OrderEvent): void; isReached(): boolean }

/**
 * Finds the point at which an order's stream can end. A captured order reaches
 * it with `fulfil`, or with both `refundDue` and `finalityRaised`. A canceled
 * or consumed order needs only `finalityRaised`; so does a test order, which is
 * never fulfilled. While a refund is in progress, no order reaches it.
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
          // A refund that a reorg undid is sent again.
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
