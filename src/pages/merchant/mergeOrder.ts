import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { BookOrder } from './applyEvent.js'

/**
 * Takes an order from the server, and keeps what only the page knows until the
 * server has decided it.
 */
export function mergeOrder(
  known: BookOrder | undefined,
  order: MerchantOrder,
): BookOrder {
  const { isCancelKept, pending } = known ?? {}
  const isSame = known?.state === order.state
  const isWaiting = order.state === 'stored' && order.requested === 'capture'
  return {
    ...order,
    isCancelKept,
    failure: isSame ? known.failure : undefined,
    pending: isWaiting ? pending : undefined,
  }
}
