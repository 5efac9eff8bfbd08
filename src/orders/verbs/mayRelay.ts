import type { StoreReader, StoreWriter } from '../../store/types.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { isRelaying } from '../submitter/rejectOrder.js'

/** Cancellations of one payer in a day that we send without approval. */
const mostOfPayer = 3

/** Seconds after its draft during which an order counts. */
const day = 86_400n

/** Most orders to read; no payer has so many waiting for a cancellation. */
const manyOrders = 200

/**
 * True when the policy sends the cancellation without approval. False once
 * three other orders of this payer, drafted within a day, are canceled or about
 * to be: each costs us gas, and a signature costs the payer nothing.
 */
export async function mayRelay(
  context: OrdersContext,
  tables: StoreWriter,
  { order, attempt }: StoredOrder,
): Promise<boolean> {
  if (!isRelaying(context)) return false
  const payer = attempt.payer ?? order.payer
  if (payer === undefined) return true
  // Counts cancellations that arrive at the same time one by one.
  await tables.lock(`relay:${order.chainId}:${payer}`)
  const listed = context.destinations.filter(
    ({ chainId }) => chainId === order.chainId,
  )
  const read = (
    states: readonly StoredOrder['order']['state'][],
    limit: number,
  ): ReturnType<StoreReader['orders']['find']> =>
    tables.orders.find({ listed, payer, states, limit })
  const canceled = await read(['canceling', 'canceled'], mostOfPayer)
  const waiting = await read(['stored', 'capturing', 'voided'], manyOrders)
  const since = context.now() / 1000n - day
  const counted = [
    ...canceled,
    ...waiting.filter(({ requested }) => requested === 'cancel'),
  ].filter(({ id, createdAt }) => id !== order.id && createdAt > since)
  return counted.length < mostOfPayer
}
