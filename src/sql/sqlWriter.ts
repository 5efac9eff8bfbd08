import { addAll } from '../core/addAll.js'
import type { EventRecord, StoreWriter } from '../store/types.js'
import {
  type CountChanges,
  raiseCounters,
  startCounting,
} from './orderCounts.js'
import { findEvents } from './sqlFinds.js'
import { furtherRows, toRow } from './sqlMovements.js'
import { removeNotes } from './sqlNotes.js'
import type { Finder } from './sqlOrders.js'
import { sqlReader } from './sqlReader.js'
import { sqlSettings } from './sqlSettings.js'
import type { SqlUnit } from './sqlUnit.js'
import type { VersionedRow } from './tables/seenRows.js'
import type { SqlDialect, SqlEngine, SqlSession } from './tables/sqlEngine.js'
import { insertRows, updateRows } from './tables/sqlRows.js'
import {
  attemptTable,
  channelTable,
  eventTable,
  movementTable,
  noteTable,
  orderTable,
  proofTable,
  recipientTable,
  type SqlTable,
  subscriptionTable,
  transactionTable,
} from './tables/sqlTables.js'

/**
 * Writes to the database inside one transaction. `flush` writes the settings,
 * the appended events and the counters of orders. It runs last, because from
 * then on other writers wait for the commit.
 */
export function sqlWriter(
  finder: Finder,
  engine: SqlEngine,
  unit: SqlUnit,
): { writer: StoreWriter; flush(): Promise<void> } {
  const { session, dialect } = finder
  const reader = sqlReader(finder, unit)
  const change = (request: () => Promise<void>) => {
    unit.changed = true
    return unit.run(request)
  }
  const { seen } = unit
  const counts = startCounting(finder, seen)
  const changes = <row>(table: SqlTable<row>, counted?: CountChanges) => ({
    insert: (rows: readonly object[]) =>
      change(async () => {
        const first = rows.map((row) => ({ ...row, version: 1 }))
        await insertRows(session, dialect, table, first)
        seen.keep(table, first)
        counted?.inserted(first)
      }),
    update: (rows: readonly VersionedRow[]) =>
      change(async () => {
        const next = rows.map((row) => ({ ...row, version: row.version + 1 }))
        const before = await counted?.before(rows)
        await updateRows(session, dialect, table, rows, seen)
        seen.keep(table, next)
        counted?.updated(before ?? [], next)
      }),
  })
  const sent = changes(transactionTable)
  const waiting: Omit<EventRecord, 'cursor'>[] = []
  const { settings, flush: flushSettings } = sqlSettings(finder, change, unit)
  const flushEvents = () =>
    appendEvents(session, dialect, {
      events: waiting.splice(0),
      rises: counts.take(),
    })
  return {
    flush: async () => {
      await flushSettings()
      await flushEvents()
    },
    writer: {
      orders: { ...reader.orders, ...changes(orderTable, counts) },
      attempts: { ...reader.attempts, ...changes(attemptTable) },
      transactions: {
        ...reader.transactions,
        insert: async (rows) => {
          await sent.insert(rows.map(toRow))
          const further = furtherRows(rows)
          if (further.length > 0)
            await change(() =>
              insertRows(session, dialect, movementTable, further),
            )
        },
        update: (rows) => sent.update(rows.map(toRow)),
      },
      proofs: { ...reader.proofs, ...changes(proofTable) },
      events: {
        find: (query) =>
          unit.run(async () => {
            await flushEvents()
            return findEvents(finder, query)
          }),
        // Collects the events. `flushEvents` assigns the cursors at the end of
        // the transaction, because from then on all other writers of events
        // wait.
        append: (rows) =>
          change(async () => {
            if (rows.length > 0) unit.appended = true
            addAll(waiting, rows)
          }),
      },
      notes: {
        ...reader.notes,
        ...changes(noteTable),
        remove: (keys) => change(() => removeNotes(finder, keys)),
      },
      subscriptions: {
        ...reader.subscriptions,
        ...changes(subscriptionTable),
      },
      channels: { ...reader.channels, ...changes(channelTable) },
      recipients: { ...reader.recipients, ...changes(recipientTable) },
      ...settings,
      lock: (name) => unit.run(() => engine.lock(session, name)),
    },
  }
}

/**
 * Inserts events with the next cursors. One statement raises the counter of
 * events and those of orders.
 *
 * The counters stay locked until the end of the transaction. So readers see
 * events in the order of their cursors, without gaps.
 */
async function appendEvents(
  session: SqlSession,
  dialect: SqlDialect,
  {
    events,
    rises,
  }: {
    events: readonly Omit<EventRecord, 'cursor'>[]
    rises: Map<string, bigint>
  },
): Promise<void> {
  if (events.length > 0) rises.set('events', BigInt(events.length))
  if (rises.size === 0) return
  const counters = await raiseCounters({ session, dialect }, rises)
  if (events.length === 0) return
  const first = (counters.get('events') ?? 0n) - BigInt(events.length) + 1n
  const placed = events.map((event, index) => ({
    ...event,
    cursor: first + BigInt(index),
  }))
  await insertRows(session, dialect, eventTable, placed)
}
