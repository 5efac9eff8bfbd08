import { isTestOrderId } from '../../core/testOrders.js'
import type { OrderEvent } from '../../orders/index.js'

/** Follows the events of an order until no important one can follow. */
export type StreamEnd = { note(event: OrderEvent): void; isReached(): boolean }

/**
 * A captured order is at its end after `fulfil`, or after `refundDue` and a
 * raised finality. A canceled or consumed one is after a raised finality, and so
 * is a test order, which is never fulfilled. None is while a refund is in
 * progress.
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
