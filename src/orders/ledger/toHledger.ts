import { formatSigned } from '../../core/formatSigned.js'
import { formatTime } from './formatRow.js'
import type { LedgerRow } from './types.js'

/**
 * Writes ledger rows as a journal for hledger. Each recipient has the account
 * `assets:<chain id>:<symbol>:<address>`, and each submitter one for the coin
 * that it pays gas with.
 *
 * With `transfers: true`, the journal begins with the balance of each recipient
 * and ends with a balance assertion, so `hledger check` proves that the journal
 * agrees with `balanceOf`. Without `transfers`, the journal contains only what
 * is stored, and asserts nothing.
 * @throws the errors of `rows`.
 *
 * @example
 * ```ts
 * import { open } from 'node:fs/promises'
 * import { type Orders, toHledger } from 'countersign/orders'
 *
 * export async function writeBooks(orders: Orders) {
 *   const file = await open('books.journal', 'w')
 *   for await (const text of toHledger(orders.ledger({ transfers: true })))
 *     await file.write(text)
 *   await file.close()
 * }
 * ```
 */
export async function* toHledger(
  rows: AsyncIterable<LedgerRow>,
): AsyncGenerator<string> {
  const declared = new Set<string>()
  const declare = (line: string): string => {
    if (declared.has(line)) return ''
    declared.add(line)
    return `${line}\n`
  }
  yield 'decimal-mark .\n'
  for await (const row of rows) {
    const { entry, accounts } = entryOf(row)
    const directives = [commodityOf(row), ...accounts.map(accountLine)]
    yield `${directives.map(declare).join('')}\n${entry}`
  }
}

const accountLine = (account: string): string => `account ${account}`

type Entry = { entry: string; accounts: readonly string[] }

function entryOf(row: LedgerRow): Entry {
  const asset = accountOf('assets', row)
  if (row.type === 'closing') {
    const assertion = `${amountOf(0n, row)} = ${amountOf(row.balance ?? 0n, row)}`
    const posting = `    ${asset}  ${assertion}\n`
    return { entry: headOf(row) + posting, accounts: [asset] }
  }
  const moved = row.type === 'opening' ? (row.balance ?? 0n) : row.net
  const other = accountOf(contraAccounts[row.type], row)
  const postings = [
    `    ${asset}  ${amountOf(moved, row)}\n`,
    `    ${other}  ${amountOf(-moved, row)}\n`,
  ]
  return { entry: headOf(row) + postings.join(''), accounts: [asset, other] }
}

/**
 * The account that balances each entry in double-entry bookkeeping, by the type
 * of row.
 */
const contraAccounts = {
  capture: 'income:sales',
  refund: 'expenses:refunds',
  claim: 'income:channels',
  gas: 'expenses:gas',
  transfer: 'equity:transfers',
  unpaid: 'expenses:unpaid',
  opening: 'equity:opening',
} as const

/**
 * Returns the first lines of an entry: date, status, transaction hash, and
 * order.
 */
function headOf(row: LedgerRow): string {
  const { blockTime, finality, transactionHash, type } = row
  const [date] = formatTime(blockTime).split('T')
  // Mark an entry as cleared (`*`) only once no reorganization can undo it.
  const status = finality === 'finalized' ? '*' : '!'
  const code = transactionHash === undefined ? '' : `(${transactionHash}) `
  const tags = {
    time: formatTime(blockTime).slice(11),
    block: row.blockNumber,
    log: row.logIndex,
    finality,
    order: encodeId(row.orderId),
    refund: encodeId(row.refundId),
    movement: row.movementId,
    unpaid: row.unpaid === undefined ? undefined : amountOf(row.unpaid, row),
    payer: row.payer,
    payee: row.payee,
  }
  const shown = Object.entries(tags)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}:${value}`)
  return `${date} ${status} ${code}${type}\n    ; ${shown.join(', ')}\n`
}

/**
 * Percent-encodes an id: a comma would end an hledger tag, and hledger reads
 * non-ASCII text only if the locale allows it.
 */
const encodeId = (id: string | undefined): string | undefined =>
  id === undefined ? undefined : encodeURIComponent(id)

function accountOf(kind: string, row: LedgerRow): string {
  const { chainId, symbol, recipient, submitter } = row
  return `${kind}:${chainId}:${plain(symbol)}:${submitter ?? recipient}`
}

function amountOf(value: bigint, row: LedgerRow): string {
  return `${formatSigned(value, row)} ${symbolOf(row)}`
}

/**
 * Quotes a symbol that has other characters than letters, as hledger requires.
 */
function symbolOf({ symbol }: Pick<LedgerRow, 'symbol'>): string {
  return /^[A-Za-z]+$/.test(symbol) ? symbol : `"${plain(symbol)}"`
}

const plain = (symbol: string): string =>
  symbol.replaceAll(/[^A-Za-z0-9._-]/g, '_') || '_'

/** Declares a symbol to hledger, and how many decimals to show. */
function commodityOf(row: LedgerRow): string {
  const fraction = '0'.repeat(row.decimals)
  return `commodity 1000.${fraction} ${symbolOf(row)}`
}
