import { DuplicateRecordError, StaleRecordError } from './errors.js'

/** How the rows of one table are identified and found. */
export type RowKeys<row> = {
  table: string
  identity(row: row): string
  /** More values that must be unique among all rows, beside the identity. */
  unique?(row: row): readonly string[]
  /** Index entries: a query finds the row by any of these texts. */
  words(row: row): readonly string[]
}

/**
 * Frozen rows by identity, and an index from the texts of `words` to
 * identities.
 */
export type MemoryTable<row> = {
  readonly keys: RowKeys<row>
  readonly rows: Map<string, row>
  /**
   * Entries are only added, never removed, so that copies of the table can
   * share the index.
   */
  readonly index: Map<string, Set<string>>
}

/**
 * The rows as one transaction of the store sees them, including its own changes
 * that are not yet committed.
 */
export type StagedTable<row> = {
  readonly staged: MemoryTable<row>
  /** Identities of the rows that this transaction removed. */
  readonly removed: Set<string>
  get(key: string): row | undefined
  /**
   * Returns the rows whose index entries include one of these words. May
   * include rows that had the word before a change, so the caller filters the
   * result.
   */
  pick(words: readonly string[]): row[]
  all(): row[]
}

export function emptyTable<row>(keys: RowKeys<row>): MemoryTable<row> {
  return { keys, rows: new Map(), index: new Map() }
}

/** Copies a table. Later changes to one do not affect the other. */
export function copyTable<row>(table: MemoryTable<row>): MemoryTable<row> {
  return { ...table, rows: new Map(table.rows) }
}

/**
 * Collects the changes of one transaction. The table itself stays unchanged
 * until `keepStaged`.
 */
export function stageTable<row>(table: MemoryTable<row>): StagedTable<row> {
  const staged = emptyTable(table.keys)
  const removed = new Set<string>()
  const get = (key: string) =>
    removed.has(key) ? undefined : (staged.rows.get(key) ?? table.rows.get(key))
  return {
    staged,
    removed,
    get,
    pick: (words) => {
      const found = new Set<string>()
      for (const { index } of [staged, table])
        for (const word of words)
          for (const key of index.get(word) ?? []) found.add(key)
      return [...found].flatMap((key) => get(key) ?? [])
    },
    all: () => {
      if (staged.rows.size === 0 && removed.size === 0)
        return [...table.rows.values()]
      const others = [...table.rows].filter(
        ([key]) => !staged.rows.has(key) && !removed.has(key),
      )
      return [...others.map(([, row]) => row), ...staged.rows.values()]
    },
  }
}

/** Adds one row to the changes of a transaction, and freezes the row. */
export function stageInsert<row extends object>(
  table: MemoryTable<row>,
  stage: StagedTable<row>,
  row: row,
): void {
  const { keys } = table
  if (stage.get(keys.identity(row)))
    throw new DuplicateRecordError({ table: keys.table })
  stageRow(table, stage, row)
}

/**
 * Replaces one row in the changes of a transaction if the row's version is the
 * current one.
 */
export function stageUpdate<row extends { version: number }>(
  table: MemoryTable<row>,
  stage: StagedTable<row>,
  row: row,
): void {
  const { keys } = table
  const kept = stage.get(keys.identity(row))
  if (kept?.version !== row.version)
    throw new StaleRecordError({ table: keys.table })
  stageRow(table, stage, { ...row, version: row.version + 1 })
}

/**
 * Adds or replaces one row in the changes of a transaction, and freezes the
 * row.
 */
export function stageRow<row extends object>(
  { keys }: MemoryTable<row>,
  { staged, removed, pick }: StagedTable<row>,
  row: row,
): void {
  const key = keys.identity(row)
  const words = keys.unique?.(row) ?? []
  for (const other of pick(words)) {
    const taken = keys.unique?.(other) ?? []
    if (
      keys.identity(other) !== key &&
      words.some((word) => taken.includes(word))
    )
      throw new DuplicateRecordError({ table: keys.table })
  }
  removed.delete(key)
  keepRow(staged, key, freezeRow(row))
}

/**
 * Removes the row with this identity in the changes of a transaction. Does
 * nothing if there is no such row.
 */
export function stageRemoval<row>(
  { staged, removed }: StagedTable<row>,
  key: string,
): void {
  staged.rows.delete(key)
  removed.add(key)
}

/** Commits the changes of a transaction to the table. */
export function keepStaged<row>(
  table: MemoryTable<row>,
  { staged, removed }: StagedTable<row>,
): void {
  for (const key of removed) table.rows.delete(key)
  for (const [key, row] of staged.rows) keepRow(table, key, row)
}

function keepRow<row>(
  { keys, rows, index }: MemoryTable<row>,
  key: string,
  row: row,
): void {
  rows.set(key, row)
  for (const word of [...(keys.unique?.(row) ?? []), ...keys.words(row)]) {
    const found = index.get(word)
    if (found) found.add(key)
    else index.set(word, new Set([key]))
  }
}

/**
 * Freezes a row. Copies its JSON members through `JSON.stringify` first, as a
 * database would.
 */
function freezeRow<row extends object>(row: row): row {
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'object' && value) row[name] = freezeJson(value)
  }
  return Object.freeze(row)
}

function freezeJson<value extends object>(value: value): value {
  return JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === 'object' && member ? Object.freeze(member) : member,
  )
}
