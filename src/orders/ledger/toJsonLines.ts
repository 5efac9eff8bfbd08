import { toJson } from '../../core/toJson.js'
import type { LedgerRow } from './types.js'

/**
 * Writes ledger rows as JSON lines, one object a line. Integers are decimal
 * strings in token units or wei; absent members are left out.
 *
 * Checks nothing: it writes the rows as they come.
 *
 * @throws the errors of `rows`.
 *
 * @example
 * ```ts
 * import { type Orders, toJsonLines } from 'countersign/orders'
 *
 * export async function printBooks(orders: Orders) {
 *   for await (const line of toJsonLines(orders.ledger()))
 *     process.stdout.write(line)
 * }
 * ```
 */
export async function* toJsonLines(
  rows: AsyncIterable<LedgerRow>,
): AsyncGenerator<string> {
  for await (const row of rows) yield `${toJson(row)}\n`
}
