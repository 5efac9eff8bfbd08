import { type Rows, sortRows } from './memoryRows.js'
import type { RowKeys } from './memoryTable.js'
import type { NoteQuery, NoteRecord } from './types.js'

export const noteKeys: RowKeys<NoteRecord> = {
  table: 'notes',
  identity: ({ key }) => key,
  words: () => [],
}

export function filterNotes(
  rows: Rows<NoteRecord>,
  query: NoteQuery,
): NoteRecord[] {
  if ('keys' in query)
    return [...new Set(query.keys)].flatMap((key) => rows.get(key) ?? [])
  const found = rows.all().filter(({ until }) => until <= query.over)
  return sortRows(found, ({ until }) => [until]).slice(0, query.limit)
}
