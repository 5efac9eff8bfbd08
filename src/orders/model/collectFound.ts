import type { FoundOrder } from './findOrder.js'
import { type OrderRows, openLedger } from './openLedger.js'

/** Orders with what is on record beside them, from rows of many. Pure. */
export function collectFound(rows: OrderRows): FoundOrder[] {
  const ledger = openLedger(rows)
  const attempts = new Map<string, FoundOrder['attempts'][number][]>()
  for (const row of rows.attempts)
    attempts.set(row.orderId, [...(attempts.get(row.orderId) ?? []), row])
  return rows.orders.flatMap(({ id }) => {
    const file = ledger.fileOf(id)
    return file ? [{ ...file, attempts: attempts.get(id) ?? [] }] : []
  })
}
