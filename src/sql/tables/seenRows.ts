type Table = { readonly name: string; readonly key: readonly string[] }

export type VersionedRow = { readonly version: number }

/** Most rows to remember for each table. */
const most = 2000

/**
 * Remembers rows by identity and version, so that an update writes only the
 * columns that changed. An update of a row that is not remembered writes all
 * columns.
 */
export type SeenRows = {
  /**
   * Returns the remembered row of this identity and version, if there is one.
   */
  find(table: Table, row: VersionedRow): VersionedRow | undefined
  keep(table: Table, rows: readonly VersionedRow[]): void
  /** Adds the rows that a committed transaction read or wrote. */
  join(unit: SeenRows): void
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, VersionedRow>>
}

/**
 * Creates an empty memory of rows.
 *
 * @param before memory to search for rows that are not in this one.
 */
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
      // Stores copies, because the caller may change its own rows.
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
