import type { Changes } from './changes.js'
import type { OrderRows } from './openLedger.js'

/** Rows as they are once changes to them are written. Pure. */
export function applyChanges(
  { orders, attempts, proofs }: OrderRows,
  changes: Changes,
): OrderRows {
  const fresh = changes.newProofs.map((row) => ({ ...row, version: 1 }))
  return {
    orders: replace(orders, changes.orders, ({ id }) => id),
    attempts: replace(
      attempts,
      changes.attempts,
      ({ orderId, number }) => `${number} ${orderId}`,
    ),
    proofs: [
      ...replace(
        proofs,
        changes.proofs,
        ({ transactionHash, logIndex }) => `${transactionHash}:${logIndex}`,
      ),
      ...fresh,
    ],
  }
}

/** Each write counts the version up. */
function replace<row extends { version: number }>(
  rows: readonly row[],
  written: readonly row[],
  keyOf: (row: row) => string,
): row[] {
  const next = new Map(
    written.map((row) => [keyOf(row), { ...row, version: row.version + 1 }]),
  )
  return rows.map((row) => next.get(keyOf(row)) ?? row)
}
