import { inTime } from '../core/wait.js'
import type { ShopHealth, WatchHealthParameters } from './types.js'

/**
 * Milliseconds that `health` may take. It gives a node 5 seconds, and Prometheus
 * waits 10 seconds for a scrape.
 */
const longestHealth = 7000

/**
 * Creates a function that reads the health of a shop. It returns `undefined` if
 * that fails or takes too long. Reads once at a time: calls that come meanwhile
 * share the answer, so a database that hangs gets no further question.
 */
export function createHealthReader(
  { orders, channels }: WatchHealthParameters,
  limit: number = longestHealth,
): () => Promise<ShopHealth | undefined> {
  let reading: Promise<ShopHealth | undefined> | undefined
  const read = async () => {
    try {
      const [ofOrders, ofChannels] = await Promise.all([
        orders.health(),
        channels?.health(),
      ])
      return { orders: ofOrders, channels: ofChannels }
    } catch {
      return undefined
    } finally {
      reading = undefined
    }
  }
  return () => {
    reading ??= read()
    return inTime(reading, limit, () => undefined)
  }
}
