import { sql } from 'kysely'
import type { EventRecord, StoreWriter } from '../store/types.js'
import { findEvents } from './sqlFinds.js'
import type { Finder } from './sqlOrders.js'
import { sqlReader } from './sqlReader.js'
import { sqlSettings } from './sqlSettings.js'
import type { SqlUnit } from './sqlUnit.js'
import type { VersionedRow } from './tables/seenRows.js'
import type { SqlDialect, SqlEngine, SqlSession } from './tables/sqlEngine.js'
import { insertRows, updateRows } from './tables/sqlRows.js'
import {
  attemptTable,
  eventTable,
  orderTable,
  proofTable,
  type SqlTable,
  transactionTable,
} from './tables/sqlTables.js'

/**
 * Writes to the database inside one unit of work. `flush` inserts the events
 * that were appended.
 */
export function sqlWriter(
  session: SqlSession,
  engine: SqlEngine,
  unit: SqlUnit,
): { writer: StoreWriter; flush(): Promise<void> } {
  const { dialect } = engine
  const finder: Finder = { session, dialect, locks: dialect.locksRows }
  const reader = sqlReader(finder, unit)
  const change = (request: () => Promise<void>) => {
    unit.changed = true
    return unit.run(request)
  }
  const { seen } = unit
  const changes = <row>(table: SqlTable<row>) => ({
    insert: (rows: readonly object[]) =>
      change(async () => {
        const first = rows.map((row) => ({ ...row, version: 1 }))
        await insertRows(session, dialect, table, first)
        seen.keep(table, first)
      }),
    update: (rows: readonly VersionedRow[]) =>
      change(async () => {
        const next = rows.map((row) => ({ ...row, version: row.version + 1 }))
        await updateRows(session, dialect, table, rows, seen)
        seen.keep(table, next)
      }),
  })
  const waiting: Omit<EventRecord, 'cursor'>[] = []
  const flush = () => appendEvents(session, dialect, waiting.splice(0))
  return {
    flush,
    writer: {
      orders: { ...reader.orders, ...changes(orderTable) },
      attempts: { ...reader.attempts, ...changes(attemptTable) },
      transactions: { ...reader.transactions, ...changes(transactionTable) },
      proofs: { ...reader.proofs, ...changes(proofTable) },
      events: {
        find: (query) =>
          unit.run(async () => {
            await flush()
            return findEvents(finder, query)
          }),
        // Takes cursors last, because all writers of events wait for them.
        append: (rows) =>
          change(async () => {
            waiting.push(...rows)
          }),
      },
      ...sqlSettings(finder, change, unit),
      lock: (name) => unit.run(() => engine.lock(session, name)),
    },
  }
}

/**
 * Inserts events with the next cursors.
 *
 * The counter's row stays locked until the end of the transaction, so readers
 * see events in the order of their cursors, without gaps.
 */
async function appendEvents(
  session: SqlSession,
  dialect: SqlDialect,
  events: readonly Omit<EventRecord, 'cursor'>[],
): Promise<void> {
  if (events.length === 0) return
  const counted = sql<{ last: bigint }>`update counters
    set last = last + ${BigInt(events.length)} where name = 'events'
    returning last`
  const { rows } = await counted.execute(session)
  const first = BigInt(rows[0]?.last ?? 0) - BigInt(events.length) + 1n
  const placed = events.map((event, index) => ({
    ...event,
    cursor: first + BigInt(index),
  }))
  await insertRows(session, dialect, eventTable, placed)
}
