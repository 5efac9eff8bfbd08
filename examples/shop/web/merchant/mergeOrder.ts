import type { BookOrder } from './applyEvent.js'
import type { WireOrder } from './wire.js'

/** What only the page knows stays while the server does not decide it. */
export function mergeOrder(
  known: BookOrder | undefined,
  order: WireOrder,
): BookOrder {
  const { isCancelKept, pending } = known ?? {}
  const isWaiting = order.state === 'stored' && order.requested === 'capture'
  return { ...order, isCancelKept, pending: isWaiting ? pending : undefined }
}
