import type { NoteQuery, NoteRecord } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { decodeRows } from './tables/sqlRows.js'
import { noteTable } from './tables/sqlTables.js'

export async function findNotes(
  { session, dialect, locks }: Finder,
  query: NoteQuery,
): Promise<NoteRecord[]> {
  const notes = session.selectFrom('notes').selectAll()
  if ('over' in query) {
    const rows = await notes
      .where('until', '<=', query.over)
      .orderBy('until')
      .limit(BigInt(query.limit))
      .execute()
    return decodeRows(noteTable, rows)
  }
  const rows = await notes
    .where(dialect.among('key', 'text', dialect.listOf('text', query.keys)))
    // Every transaction locks rows in this order, so that two of them cannot
    // deadlock.
    .orderBy('key')
    .$if(locks, (found) => found.forUpdate())
    .execute()
  const found = decodeRows(noteTable, rows)
  const byKey = new Map(found.map((note) => [note.key, note]))
  return [...new Set(query.keys)].flatMap((key) => byKey.get(key) ?? [])
}

export async function removeNotes(
  { session, dialect }: Finder,
  keys: readonly string[],
): Promise<void> {
  await session
    .deleteFrom('notes')
    .where(dialect.among('key', 'text', dialect.listOf('text', keys)))
    .execute()
}
