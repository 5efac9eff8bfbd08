import type { OrderEvent } from '../../orders/model/orderEvents.js'

/** Follows an order's events and knows when no other is waited for. */
export type StreamEnd = { note(event: OrderEvent): void; isReached(): boolean }

/**
 * An order is at its end once it is settled as surely as it is fulfilled at;
 * one that is canceled or lost, once the chain is surer than of any block.
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
