import type { OrderEvent, OrderEventData } from './orderEvents.js'
import { refundIdOf } from './refundRow.js'
import { refundFailure } from './showRefund.js'
import type { RefundRow } from './storedOrder.js'

/**
 * An event of a refund's row, or the event of the order that it is turned into.
 */
type Moved = {
  [type in keyof OrderEventData]: Pick<OrderEvent<type>, 'type' | 'data' | 'at'>
}[keyof OrderEventData]

/**
 * Turns an event of a refund's row into an event of the order that it refunds.
 * Returns `undefined` for a step that does not concern the merchant.
 */
export function refundEventOf(
  row: RefundRow,
  event: Moved,
):
  | Pick<OrderEvent<'refunded'>, 'type' | 'data' | 'at'>
  | Pick<OrderEvent<'refundFailed'>, 'type' | 'data' | 'at'>
  | undefined {
  const { at } = event
  const facts = refundFacts(row)
  const failed = (reason: OrderEventData['refundFailed']['reason']) =>
    ({ type: 'refundFailed', at, data: { ...facts, reason } }) as const
  switch (event.type) {
    case 'captured':
      return { type: 'refunded', at, data: { ...event.data, ...facts } }
    case 'captureRejected':
      return failed(refundFailure(event.data.reason))
    case 'expired':
    case 'canceled':
    case 'consumed':
      return failed(event.type)
    case 'reorged':
      return event.data.from === 'captured' ? failed('reorged') : undefined
    default:
      return undefined
  }
}

export function refundFacts(
  row: Pick<RefundRow, 'id' | 'parentId' | 'payee' | 'value'>,
): Pick<OrderEventData['refundRequested'], 'refundId' | 'refundTo' | 'value'> {
  const { payee: refundTo, value } = row
  return { refundId: refundIdOf(row), refundTo, value: String(value) }
}
