import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { MerchantApi } from './merchantApi.js'

/** Orders to read at the same time. */
const atOnce = 4

/** Milliseconds to wait, so that several events of an order cause one read. */
const calm = 60

/**
 * Returns a function that reads a changed order again. Reads a few at a time.
 */
export function rereadOrders(
  api: MerchantApi,
  onOrder: (order: MerchantOrder) => void,
): (orderId: string) => void {
  const stale = new Set<string>()
  let isReading = false

  async function readStale(): Promise<void> {
    while (stale.size > 0) {
      const ids = [...stale].slice(0, atOnce)
      for (const id of ids) stale.delete(id)
      const orders = await Promise.all(
        ids.map((id) => api.get(id).catch(() => undefined)),
      )
      // An order that changed again meanwhile is read again in the next round.
      for (const order of orders)
        if (order && !stale.has(order.id)) onOrder(order)
    }
    isReading = false
  }

  return (orderId) => {
    stale.add(orderId)
    if (isReading) return
    isReading = true
    setTimeout(readStale, calm)
  }
}
