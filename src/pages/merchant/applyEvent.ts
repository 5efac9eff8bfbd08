import type {
  MerchantEvent,
  MerchantOrder,
} from '../../client/MerchantClient.js'
import type { Finality } from '../../core/types.js'
import type { OrderEventType } from '../../orders/index.js'
import type { OrderState } from '../../store/types.js'

/** An order on the merchant's page, with what only the page knows. */
export type BookOrder = MerchantOrder & {
  /** An action that was requested on this page and is not answered yet. */
  pending?: 'capture' | undefined
  /** Why the last action that was requested on this page failed. */
  failure?: string | undefined
  /** The buyer's cancellation waits for the merchant. */
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
 * Applies an event to an order at once. The page then reads the rest of the
 * order from the server.
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
