import { DuplicateRecordError, StaleRecordError } from './errors.js'

/** How the rows of one table are told apart and found. */
export type RowKeys<row> = {
  table: string
  /** What no two rows may share; the first is the row's identity. */
  unique(row: row): readonly [string, ...string[]]
  /** What rows are looked for by, beside that. */
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
      const keys = [staged, table].flatMap(({ index }) =>
        words.flatMap((word) => [...(index.get(word) ?? [])]),
      )
      return [...new Set(keys)].flatMap((key) => get(key) ?? [])
    },
    all: () => {
      if (staged.rows.size === 0) return [...table.rows.values()]
      const others = [...table.rows].filter(([key]) => !staged.rows.has(key))
      return [...others.map(([, row]) => row), ...staged.rows.values()]
    },
  }
}

/** Adds one row to a unit of work. */
export function stageInsert<row extends object>(
  table: MemoryTable<row>,
  stage: StagedTable<row>,
  row: row,
): void {
  const [key] = table.keys.unique(row)
  if (stage.get(key))
    throw new DuplicateRecordError({ table: table.keys.table })
  stageRow(table, stage, row)
}

/** Replaces one row in a unit of work, if its version is the one given. */
export function stageUpdate<row extends { version: number }>(
  table: MemoryTable<row>,
  stage: StagedTable<row>,
  row: row,
): void {
  const kept = stage.get(table.keys.unique(row)[0])
  if (kept?.version !== row.version)
    throw new StaleRecordError({ table: table.keys.table })
  stageRow(table, stage, { ...row, version: row.version + 1 })
}

/** Puts one row into a unit of work, in place of the one that is there. */
export function stageRow<row extends object>(
  { keys }: MemoryTable<row>,
  { staged, pick }: StagedTable<row>,
  row: row,
): void {
  const words = keys.unique(row)
  for (const other of pick(words)) {
    const taken = keys.unique(other)
    if (taken[0] === words[0]) continue
    if (words.some((word) => taken.includes(word)))
      throw new DuplicateRecordError({ table: keys.table })
  }
  keepRow(staged, freezeRow(row))
}

/** Makes the changes of a unit of work part of the table. */
export function keepStaged<row>(
  table: MemoryTable<row>,
  { staged }: StagedTable<row>,
): void {
  for (const row of staged.rows.values()) keepRow(table, row)
}

function keepRow<row>({ keys, rows, index }: MemoryTable<row>, row: row): void {
  const unique = keys.unique(row)
  rows.set(unique[0], row)
  for (const word of [...unique, ...keys.words(row)]) {
    const found = index.get(word)
    if (found) found.add(unique[0])
    else index.set(word, new Set([unique[0]]))
  }
}

/** A copy nobody can change, with JSON as JSON keeps it. */
function freezeRow<row extends object>(row: row): row {
  const members = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'object' && value ? freezeJson(value) : value,
  ])
  return Object.freeze(Object.fromEntries(members))
}

function freezeJson(value: object): unknown {
  return JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === 'object' && member ? Object.freeze(member) : member,
  )
}
