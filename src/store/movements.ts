import type { Movement, TransactionRecord } from './types.js'

/** Returns the ids of the orders that some transactions carry, each once. */
export function ordersOf(
  rows: readonly Pick<TransactionRecord, 'movements'>[],
): string[] {
  const ids = rows.flatMap(({ movements }) =>
    movements.map(({ orderId }) => orderId),
  )
  return [...new Set(ids)]
}

/** True when a transaction carries an order, at this attempt if one is given. */
export function carries(
  { movements }: Pick<TransactionRecord, 'movements'>,
  orderId: string,
  attempt?: number | undefined,
): boolean {
  return movements.some(
    (one) =>
      one.orderId === orderId &&
      (attempt === undefined || one.attempt === attempt),
  )
}

/** Returns what some transactions carry, each movement once. */
export function movementsOf(
  rows: readonly Pick<TransactionRecord, 'movements'>[],
): Movement[] {
  const found = new Map<string, Movement>()
  for (const { movements } of rows)
    for (const one of movements) found.set(`${one.attempt} ${one.orderId}`, one)
  return [...found.values()]
}
