type Table = { readonly name: string; readonly key: readonly string[] }

/** A row with the number of its writes. */
export type VersionedRow = { readonly version: number }

/** Most rows of a table that are remembered. */
const most = 2000

/**
 * Rows as they are kept: what a row holds at a version never changes, as each
 * write counts it up. What is not known is written as a whole.
 */
export type SeenRows = {
  /** The same row at the same version. */
  find(table: Table, row: VersionedRow): VersionedRow | undefined
  keep(table: Table, rows: readonly VersionedRow[]): void
  /** Takes over what a unit of work saw, once that is durable. */
  join(unit: SeenRows): void
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, VersionedRow>>
}

/** @param before what was seen before, by others too. */
export function seenRows(before?: SeenRows | undefined): SeenRows {
  const tables = new Map<string, Map<string, VersionedRow>>()
  const put = (table: string, key: string, row: VersionedRow): void => {
    const rows = tables.get(table) ?? new Map<string, VersionedRow>()
    tables.set(table, rows)
    const known = rows.get(key)
    if (known && known.version > row.version) return
    rows.delete(key)
    const [oldest] = rows.size >= most ? rows.keys() : []
    if (oldest !== undefined) rows.delete(oldest)
    rows.set(key, row)
  }
  return {
    tables,
    find: (table, row) => {
      const known = tables.get(table.name)?.get(keyOf(table, row))
      return known?.version === row.version ? known : before?.find(table, row)
    },
    keep: (table, rows) => {
      // Copies: whoever has the row may write to it.
      for (const row of rows) put(table.name, keyOf(table, row), { ...row })
    },
    join: (unit) => {
      for (const [table, rows] of unit.tables)
        for (const [key, row] of rows) put(table, key, row)
    },
  }
}

function keyOf({ key }: Table, row: VersionedRow): string {
  return key.map((name) => Reflect.get(row, name)).join(' ')
}
