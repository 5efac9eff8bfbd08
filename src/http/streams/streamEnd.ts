import type { OrderEvent } from '../../orders/model/orderEvents.js'

/** Follows the events of an order until no important one can follow. */
export type StreamEnd = { note(event: OrderEvent): void; isReached(): boolean }

/**
 * A captured order is at its end after `fulfil`, or after `refundDue` and a
 * raised finality. A canceled or consumed one is after a raised finality.
 */
export function watchEnd(): StreamEnd {
  let settled: 'captured' | 'canceled' | 'consumed' | undefined
  let isSure = false
  let isDue = false
  return {
    note: ({ type }) => {
      switch (type) {
        case 'captured':
        case 'canceled':
        case 'consumed':
          settled = type
          isSure = false
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
      }
    },
    isReached: () =>
      settled !== undefined && isSure && (isDue || settled !== 'captured'),
  }
}
