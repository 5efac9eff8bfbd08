import type { Finality } from 'countersign'
import type { OrderEventType } from 'countersign/orders'
import type { OrderState } from 'countersign/store'
import type { WireEvent, WireOrder } from './wire.js'

/** An order on the merchant's page, with what only the page knows. */
export type BookOrder = WireOrder & {
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
export function applyEvent(order: BookOrder, event: WireEvent): BookOrder {
  const { type, data } = event
  const state = states[type] ?? order.state
  const next: BookOrder = { ...order, state, pending: undefined }
  switch (type) {
    case 'preconfirmed':
      return { ...next, preconfirmed: hashOf(data) }
    case 'finalityRaised':
      return withFinality(next, data.finality)
    case 'captureRejected':
    case 'cancelRejected':
      return { ...next, reason: String(data.reason), preconfirmed: undefined }
    case 'cancelRequested':
      return { ...next, isCancelKept: data.relayed === false }
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

function hashOf(data: WireEvent['data']): BookOrder['preconfirmed'] {
  const { transactionHash } = data
  return typeof transactionHash === 'string' && transactionHash.startsWith('0x')
    ? `0x${transactionHash.slice(2)}`
    : '0x'
}

const finalities: readonly unknown[] = ['included', 'safe', 'finalized']

function withFinality(order: BookOrder, finality: unknown): BookOrder {
  if (!isFinality(finality)) return order
  const { capture, cancellation } = order
  return {
    ...order,
    capture: capture && { ...capture, finality },
    cancellation: cancellation && { ...cancellation, finality },
  }
}

function isFinality(
  value: unknown,
): value is Exclude<Finality, 'preconfirmed'> {
  return finalities.includes(value)
}
