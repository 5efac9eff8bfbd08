import { loadOrders, type OrderTables, withRefunds } from './loadOrders.js'
import { isRefund } from './refundRow.js'
import type { StoredOrder, StoredRefund } from './storedOrder.js'

/**
 * Loads a refund with its attempts and proofs. The id is that of the refund's
 * row, from `refundRowId`.
 */
export async function loadRefund(
  tables: OrderTables,
  id: string,
): Promise<StoredRefund | undefined> {
  const stored = (await loadOrders(tables, { ids: [id] })).get(id)
  return stored && isRefund(stored.order)
    ? { row: stored.order, stored }
    : undefined
}

export async function loadRefunded(
  tables: OrderTables,
  orderId: string,
): Promise<StoredOrder | undefined> {
  const loaded = await loadOrders(tables, { ids: [orderId] })
  return (await withRefunds(tables, loaded)).get(orderId)
}
