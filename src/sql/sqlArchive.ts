import { type RawBuilder, sql } from 'kysely'
import { ordersOf } from '../store/movements.js'
import type { ArchiveQuery } from '../store/types.js'
import { findTransactionsOn } from './sqlFinds.js'
import { furtherRows, toRecord } from './sqlMovements.js'
import type { Finder } from './sqlOrders.js'
import { findArchived, fromSide, tableOn } from './tables/archivedTables.js'
import { groupByToken, inPart, mergeRows } from './tables/sqlDestinations.js'
import type { SqlEngine } from './tables/sqlEngine.js'
import { SqlFault } from './tables/sqlFault.js'
import { columnsOf, hasKeyOf } from './tables/sqlRows.js'
import {
  type ArchivedTable,
  attemptTable,
  eventTable,
  movementTable,
  orderTable,
  proofTable,
  type Side,
  type SqlTable,
  transactionTable,
} from './tables/sqlTables.js'

/** Implements `archive` of `PaymentStore`. One process moves rows at a time. */
export async function archiveOver(
  { lock }: SqlEngine,
  finder: Finder,
  { over, before, after = -1n, limit }: ArchiveQuery,
): Promise<{ moved: number; last: bigint | undefined }> {
  const { session, dialect } = finder
  await lock(session, 'archive')
  const parts = groupByToken(over).map((part) =>
    session
      .selectFrom('orders')
      .select(['id', 'position'])
      .where(inPart(dialect, part, 'filtered'))
      .where('position', '>', after)
      .where(isOver(before))
      .orderBy('position')
      .limit(BigInt(limit)),
  )
  const found = await mergeRows(finder, parts, { order: 'position', limit })
  const last = found.at(-1)
  if (!last) return { moved: 0, last: undefined }
  // Of these, moves the ones that are over still, and that nobody else writes.
  const locked = session
    .selectFrom('orders')
    .select('id')
    .where(dialect.among('id', 'text', dialect.listOf('text', idsIn(found))))
    .where(isOver(before))
    .where(isClosed('live'))
    .orderBy('id')
    .$if(finder.locks, (query) => query.forUpdate().skipLocked())
  const ids = idsIn(await locked.execute())
  await moveOrders(finder, ids, 'archive')
  if (dialect.locksRows) await checkClosed(finder, ids)
  return { moved: ids.length, last: BigInt(Reflect.get(last, 'position')) }
}

/**
 * Moves those of the orders that are in the archive back to the tables that
 * workers search. Their versions stay.
 */
export async function bringBack(
  { lock }: SqlEngine,
  finder: Finder,
  orderIds: readonly string[],
): Promise<void> {
  await lock(finder.session, 'archive')
  await moveOrders(finder, await findArchived(finder, orderIds), 'live')
}

const idsIn = (rows: readonly object[]) =>
  rows.map((row) => String(Reflect.get(row, 'id')))

/**
 * The SQL condition, by the order's row alone, that nothing happens to it any
 * more unless somebody calls for it. Leaves out the newest order, because
 * SQLite numbers the next one after it.
 */
function isOver(before: bigint): RawBuilder<boolean> {
  return sql<boolean>`role in ('sale', 'charge', 'refund')
    and created_at < ${before} and finality = 'finalized'
    and send_due is null and look_due is null and not needs_review
    and (early is null or early = 'paid')
    and position < (select max(position) from orders)`
}

/** The SQL condition that no signature or transaction of an order is left. */
function isClosed(side: Side): RawBuilder<boolean> {
  const attempts = fromSide(side, 'attempts')
  const transactions = fromSide(side, 'transactions')
  return sql<boolean>`
    not exists (select 1 from ${attempts} where attempts.order_id = orders.id
      and (spendable or signature is not null or cancellation is not null))
    and not exists (select 1 from ${transactions}
      where transactions.order_id = orders.id
      and (in_flight or raw is not null))
    and not exists (select 1 from ${fromSide(side, 'movements')}
      join ${transactions}
      on transactions.chain_id = movements.chain_id
      and transactions.account = movements.account
      and transactions.nonce = movements.nonce
      and transactions.bump = movements.bump
      where movements.order_id = orders.id
      and (in_flight or raw is not null))`
}

/**
 * Checks that the orders that were moved just now are still closed. Where several
 * transactions write at a time, another may have opened an attempt or a
 * transaction of an order, and have committed while the archive waited for that
 * row.
 *
 * @throws {@link SqlFault} `rolledBack`: the page runs again, and leaves out the
 * orders that were opened.
 */
async function checkClosed(
  { session, dialect }: Finder,
  ids: readonly string[],
): Promise<void> {
  const open = await session
    .selectFrom(fromSide('archive', 'orders'))
    .select('id')
    .where(dialect.among('id', 'text', dialect.listOf('text', ids)))
    .where(sql<boolean>`not (${isClosed('archive')})`)
    .limit(1n)
    .execute()
  if (open.length > 0) throw new SqlFault('rolledBack', 'reopened')
}

/** Tables whose rows name one order, their columns, and which of them does. */
const ofOneOrder: readonly [ArchivedTable, readonly string[], string][] = [
  ['orders', columnsOf(orderTable), 'id'],
  ['attempts', columnsOf(attemptTable), 'order_id'],
  ['proofs', columnsOf(proofTable), 'order_id'],
  ['events', columnsOf(eventTable), 'order_id'],
]

type Move = { from: Side; to: Side }

async function moveOrders(
  finder: Finder,
  orderIds: readonly string[],
  to: Side,
): Promise<void> {
  if (orderIds.length === 0) return
  const { dialect } = finder
  const move: Move = { from: to === 'live' ? 'archive' : 'live', to }
  const list = dialect.listOf('text', orderIds)
  for (const [name, columns, column] of ofOneOrder)
    await moveRows(finder, move, {
      name,
      columns,
      isMoved: dialect.among(column, 'text', list),
    })
  await moveTransactions(finder, orderIds, move)
}

async function moveRows(
  { session, dialect }: Finder,
  { from, to }: Move,
  {
    name,
    columns: all,
    isMoved,
  }: {
    name: ArchivedTable
    columns: readonly string[]
    isMoved: RawBuilder<boolean>
  },
): Promise<void> {
  const source = sql.table(tableOn(from, name))
  const columns = sql.raw(all.join(', '))
  const insert = sql`insert into ${sql.table(tableOn(to, name))} (${columns})
    select ${columns} from`
  if (dialect.locksRows) {
    // One statement copies and deletes, because another transaction may change
    // a row without locking its order. With two, its change could be lost.
    await sql`with moved as (delete from ${source} where ${isMoved}
      returning ${columns}) ${insert} moved`.execute(session)
    return
  }
  await sql`${insert} ${source} where ${isMoved}`.execute(session)
  await sql`delete from ${source} where ${isMoved}`.execute(session)
}

/** Most rows whose keys one statement names. */
const mostKeys = 500

/**
 * Moves the transactions of orders that were moved just now. One that also
 * carries an order that is not in the archive stays until that order is.
 */
async function moveTransactions(
  finder: Finder,
  orderIds: readonly string[],
  { from, to }: Move,
): Promise<void> {
  const { dialect } = finder
  const sent = (await findTransactionsOn(finder, from, orderIds)).map(toRecord)
  const archived = new Set(await findArchived(finder, ordersOf(sent)))
  const moved = sent.filter(
    ({ movements }) =>
      to === 'live' || movements.every(({ orderId }) => archived.has(orderId)),
  )
  const moveByKey = async <row>(
    name: ArchivedTable,
    table: SqlTable<row>,
    rows: readonly object[],
  ) => {
    for (let at = 0; at < rows.length; at += mostKeys) {
      const isMoved = hasKeyOf(dialect, table, rows.slice(at, at + mostKeys))
      const columns = columnsOf(table)
      await moveRows(finder, { from, to }, { name, columns, isMoved })
    }
  }
  await moveByKey('transactions', transactionTable, moved)
  await moveByKey('movements', movementTable, furtherRows(moved))
}
