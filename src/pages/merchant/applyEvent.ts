import type {
  MerchantEvent,
  MerchantOrder,
} from '../../client/MerchantClient.js'
import type { Finality } from '../../core/types.js'
import type { OrderEventType } from '../../orders/index.js'
import type { OrderState } from '../../store/types.js'

/** An order on the merchant's page, with what only the page knows. */
export type BookOrder = MerchantOrder & {
  /** Asked for here, and not answered yet. */
  pending?: 'capture' | undefined
  /** Why the last thing asked for here was not done. */
  failure?: string | undefined
  /** A cancellation is kept and waits for the merchant. */
  isCancelKept?: boolean | undefined
}

const states: Partial<Record<OrderEventType, OrderState>> = {
  accepted: 'stored',
  capturing: 'capturing',
  captured: 'captured',
  voided: 'voided',
  canceling: 'canceling',
  canceled: 'canceled',
  expired: 'expired',
  consumed: 'consumed',
}

/**
 * What an event says of an order at once; the rest is read from the server
 * afterwards.
 */
export function applyEvent(order: BookOrder, event: MerchantEvent): BookOrder {
  const state = states[event.type] ?? order.state
  const next: BookOrder = { ...order, state, pending: undefined }
  switch (event.type) {
    case 'preconfirmed':
      return { ...next, preconfirmed: event.data.transactionHash }
    case 'finalityRaised':
      return withFinality(next, event.data.finality)
    case 'captureRejected':
    case 'cancelRejected':
      return { ...next, reason: event.data.reason, preconfirmed: undefined }
    case 'cancellationAccepted':
      return { ...next, isCancelKept: !event.data.relayed }
    default:
      return state === order.state
        ? next
        : {
            ...next,
            preconfirmed: undefined,
            reason: undefined,
            failure: undefined,
          }
  }
}

function withFinality(order: BookOrder, finality: Finality): BookOrder {
  if (finality === 'preconfirmed') return order
  const { capture, cancellation } = order
  return {
    ...order,
    capture: capture && { ...capture, finality },
    cancellation: cancellation && { ...cancellation, finality },
  }
}
