type Table = { readonly name: string; readonly key: readonly string[] }

export type VersionedRow = { readonly version: number }

/** Largest number of rows remembered for each table. */
const most = 2000

/**
 * Remembers rows, so that an update writes only the changed columns. A row
 * never changes without a new version. Updates write unknown rows whole.
 */
export type SeenRows = {
  /**
   * Returns the remembered row of this identity and version, if there is one.
   */
  find(table: Table, row: VersionedRow): VersionedRow | undefined
  keep(table: Table, rows: readonly VersionedRow[]): void
  /** Adds the rows that a committed unit of work saw. */
  join(unit: SeenRows): void
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, VersionedRow>>
}

/** @param before rows to search if this unit has not seen the row. */
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
      // Copies, because the caller may change its row.
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
