import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { MerchantApi } from './merchantApi.js'

/** Orders read at once. */
const batch = 4

/** Milliseconds in which several events of one order count as one. */
const calm = 60

/** Reads orders again that something happened to, a few at a time. */
export function rereadOrders(
  api: MerchantApi,
  onOrder: (order: MerchantOrder) => void,
): (orderId: string) => void {
  const stale = new Set<string>()
  let isReading = false

  async function readStale(): Promise<void> {
    while (stale.size > 0) {
      const ids = [...stale].slice(0, batch)
      for (const id of ids) stale.delete(id)
      const orders = await Promise.all(
        ids.map((id) => api.get(id).catch(() => undefined)),
      )
      // What was told meanwhile is newer, and is read again anyway.
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
