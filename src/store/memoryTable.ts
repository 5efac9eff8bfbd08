import { DuplicateRecordError, StaleRecordError } from './errors.js'

/** How the rows of one table are told apart and found. */
export type RowKeys<row> = {
  table: string
  identity(row: row): string
  /** What no two rows may share beside it. */
  unique?(row: row): readonly string[]
  /** What rows are looked for by, beside both. */
  words(row: row): readonly string[]
}

/** Rows by identity, frozen, and the identities of the rows a word is in. */
export type MemoryTable<row> = {
  readonly keys: RowKeys<row>
  readonly rows: Map<string, row>
  /** Only ever grows, so that a copy of `rows` can share it. */
  readonly index: Map<string, Set<string>>
}

/** The rows as one unit of work sees them, and what it changed so far. */
export type StagedTable<row> = {
  readonly staged: MemoryTable<row>
  get(key: string): row | undefined
  /** Rows that hold one of these words, or held one once. */
  pick(words: readonly string[]): row[]
  all(): row[]
}

/** A table without rows. */
export function emptyTable<row>(keys: RowKeys<row>): MemoryTable<row> {
  return { keys, rows: new Map(), index: new Map() }
}

/** The same rows, in a table that can be changed alone. */
export function copyTable<row>(table: MemoryTable<row>): MemoryTable<row> {
  return { ...table, rows: new Map(table.rows) }
}

/** The table as it is, and room for changes before it. */
export function stageTable<row>(table: MemoryTable<row>): StagedTable<row> {
  const staged = emptyTable(table.keys)
  const get = (key: string) => staged.rows.get(key) ?? table.rows.get(key)
  return {
    staged,
    get,
    pick: (words) => {
      const found = new Set<string>()
      for (const { index } of [staged, table])
        for (const word of words)
          for (const key of index.get(word) ?? []) found.add(key)
      return [...found].flatMap((key) => get(key) ?? [])
    },
    all: () => {
      if (staged.rows.size === 0) return [...table.rows.values()]
      const others = [...table.rows].filter(([key]) => !staged.rows.has(key))
      return [...others.map(([, row]) => row), ...staged.rows.values()]
    },
  }
}

/** Adds one row, which is its own from then on, to a unit of work. */
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

/** Replaces one row in a unit of work, if its version is the one given. */
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
 * Puts one row, which is its own from then on, into a unit of work, in place of
 * the one that is there.
 */
export function stageRow<row extends object>(
  { keys }: MemoryTable<row>,
  { staged, pick }: StagedTable<row>,
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
  keepRow(staged, key, freezeRow(row))
}

/** Makes the changes of a unit of work part of the table. */
export function keepStaged<row>(
  table: MemoryTable<row>,
  { staged }: StagedTable<row>,
): void {
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

/** The row, which nobody can change any more, with JSON as JSON keeps it. */
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
