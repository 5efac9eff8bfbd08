import { sql } from 'kysely'
import type { EventRecord } from '../store/types.js'
import type { SqlDialect, SqlSession } from './tables/sqlEngine.js'
import { insertRows } from './tables/sqlRows.js'
import { eventTable } from './tables/sqlTables.js'

/**
 * Adds events with the next cursors.
 *
 * The row that counts them stays locked until the end of the transaction: the
 * order of cursors is the order in which readers see them, without gaps.
 */
export async function appendEvents(
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
