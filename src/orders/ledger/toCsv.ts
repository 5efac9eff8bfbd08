import { csvLine, guardText } from '../../core/csv.js'
import { formatSigned } from '../../core/formatSigned.js'
import { formatTime } from './formatRow.js'
import type { LedgerRow } from './types.js'

/** The columns of the CSV, and the value of each for a row. */
const columns: Readonly<
  Record<string, (row: LedgerRow) => string | number | bigint | undefined>
> = {
  type: ({ type }) => type,
  time: ({ blockTime }) => formatTime(blockTime),
  chainId: ({ chainId }) => chainId,
  token: ({ token }) => token,
  symbol: ({ symbol }) => guardText(symbol),
  recipient: ({ recipient }) => recipient,
  gross: (row) => formatSigned(row.gross, row),
  fee: (row) => formatSigned(row.fee, row),
  net: (row) => formatSigned(row.net, row),
  balance: (row) =>
    row.balance === undefined ? undefined : formatSigned(row.balance, row),
  finality: ({ finality }) => finality,
  blockNumber: ({ blockNumber }) => blockNumber,
  logIndex: ({ logIndex }) => logIndex,
  transactionHash: ({ transactionHash }) => transactionHash,
  orderId: ({ orderId = '' }) => guardText(orderId),
  refundId: ({ refundId = '' }) => guardText(refundId),
  payer: ({ payer }) => payer,
  payee: ({ payee }) => payee,
  submitter: ({ submitter }) => submitter,
  unpaid: (row) =>
    row.unpaid === undefined ? undefined : formatSigned(row.unpaid, row),
  movementId: ({ movementId }) => movementId,
}

/**
 * Writes ledger rows as CSV (RFC 4180) with a header line. Amounts are exact
 * decimals in whole tokens or coins.
 *
 * Text that a spreadsheet would run as a formula gets a `'` in front, and so
 * does text that begins with `'`. Only order and refund ids can be such text:
 * when a program reads the file, remove one leading `'` from these ids.
 * @throws the errors of `rows`.
 *
 * @example
 * ```ts
 * import { type Orders, toCsv } from 'countersign/orders'
 *
 * export async function printBooks(orders: Orders) {
 *   for await (const line of toCsv(orders.ledger()))
 *     process.stdout.write(line)
 * }
 * ```
 */
export async function* toCsv(
  rows: AsyncIterable<LedgerRow>,
): AsyncGenerator<string> {
  yield csvLine(Object.keys(columns))
  for await (const row of rows)
    yield csvLine(Object.values(columns).map((show) => String(show(row) ?? '')))
}
