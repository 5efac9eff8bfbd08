import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import {
  DuplicateRecordError,
  StaleRecordError,
  StoreError,
} from '../../store/errors.js'
import { ArchivedFault } from './archivedTables.js'
import { type QueryPlace, runQuery, type Slot } from './runQuery.js'
import type { SeenRows, VersionedRow } from './seenRows.js'
import {
  type ColumnKind,
  columnName,
  decodeCell,
  encodeCell,
} from './sqlColumns.js'
import type { SqlDialect, SqlSession } from './sqlEngine.js'
import { SqlFault } from './sqlFault.js'
import type { SqlTable } from './sqlTables.js'

/** Most rows in one statement, unless the table has its own limit. */
const usualRows = 500

/**
 * Decodes rows of all columns to records.
 *
 * @throws {@link StoreError} when a column is missing. This happens in a
 * process of an old release that still runs after a newer release changed the
 * tables. It would otherwise take the missing column for an empty one.
 */
export function decodeRows<row>(
  table: SqlTable<row>,
  rows: readonly object[],
): row[] {
  const members = membersOf(table)
  return rows.map((cells) => {
    const record: Record<string, unknown> = {}
    for (const { member, kind, column } of members) {
      const cell: unknown = Reflect.get(cells, column)
      if (cell === undefined)
        throw new StoreError(
          `has no column ${column} in its table ${table.name}, as after a newer release migrated it: restart this process with that release`,
        )
      record[member] = decodeCell(kind, cell)
    }
    // The cast is safe, because `Columns` gives every member of the record a
    // column.
    return record as row
  })
}

/**
 * Inserts rows, up to `mostRows` of them in one statement.
 *
 * @throws {@link DuplicateRecordError} when one of them exists already.
 */
export async function insertRows<row>(
  session: SqlSession,
  dialect: SqlDialect,
  table: SqlTable<row>,
  rows: readonly object[],
): Promise<void> {
  const members = membersOf(table).filter(
    ({ member }) => member !== table.given,
  )
  const { identities } = table
  const shape = { table: table.name, members, identities }
  const encode = (chunk: readonly object[]) => ({
    json: encodeRows(members, chunk),
  })
  await inChunks({ table, dialect, encode }, rows, async (values, chunk) => {
    const { numAffectedRows } = await runQuery(
      { session, dialect },
      rowsInserted,
      { shape, values },
    ).catch(throwDuplicate(table.name))
    if (numAffectedRows !== BigInt(chunk.length))
      throw new DuplicateRecordError({ table: table.name })
  })
}

type RowsShape = { table: string; members: readonly Member[] }

type InsertShape = RowsShape & {
  identities?: readonly (readonly string[])[] | undefined
}

/** Leaves out rows that the archive has already. */
function rowsInserted(
  { session, dialect }: QueryPlace,
  { table, members, identities = [] }: InsertShape,
  slot: Slot<{ json: string }>,
): CompiledQuery<unknown> {
  const columns = members.map(({ column }) => `"${column}"`).join(', ')
  const cells = members.map(({ kind }, index) => dialect.cell(kind, index))
  const isUnlike = identities.map((identity) => {
    const alike = members.flatMap(({ member, column }, index) =>
      identity.includes(member) ? { column, cell: cells[index] } : [],
    )
    // Selects these columns first: a table's column `value` would hide the row.
    const named = alike.map(({ column }) => column).join(', ')
    const equal = alike.map(({ column, cell }) => `kept.${column} = ${cell}`)
    return `not exists (select 1 from (select ${named} from archived_${table}) as kept
      where ${equal.join(' and ')})`
  })
  const isNew = isUnlike.length > 0 ? isUnlike.join(' and ') : undefined
  return sql`insert into ${sql.table(table)}
    (${sql.raw(columns)}) select ${sql.raw(cells.join(', '))}
    from ${dialect.rows(slot('json'), isNew)}`.compile(session)
}

/** SQL condition: a row of the table has the key of one of these rows. */
export function hasKeyOf<row>(
  dialect: SqlDialect,
  table: SqlTable<row>,
  rows: readonly object[],
): RawBuilder<boolean> {
  const { columns, given } = keysOf(dialect, table, rows)
  const list = sql.raw(columns.join(', '))
  return sql<boolean>`(${list}) in (select ${list} from ${given})`
}

/**
 * Returns the columns of a table's key, and as SQL a table named `given` with the
 * keys of these rows.
 *
 * @param also further members to put into `given`.
 */
function keysOf<row>(
  dialect: SqlDialect,
  table: SqlTable<row>,
  rows: readonly object[],
  also: readonly string[] = [],
): { columns: readonly string[]; given: RawBuilder<unknown> } {
  const keys: readonly string[] = [...table.key, ...also]
  const members = membersOf(table).filter(({ member }) => keys.includes(member))
  const cells = members.map(
    ({ kind, column }, index) => `${dialect.cell(kind, index)} as "${column}"`,
  )
  const json = sql<string>`${encodeRows(members, rows)}`
  return {
    columns: members.map(({ column }) => `"${column}"`),
    given: sql`(select ${sql.raw(cells.join(', '))}
      from ${dialect.rows(json)}) as given`,
  }
}

/**
 * Updates rows that still have the given version, many in one statement. Writes
 * only the columns that differ from the remembered row of that version, so that
 * the database leaves other indexes untouched.
 *
 * @throws {@link ArchivedFault} when a row is in the archive.
 * @throws {@link StaleRecordError} when a row is missing or has another
 * version.
 * @throws {@link DuplicateRecordError} when another row has the same identity,
 * also one in the archive.
 */
export async function updateRows<row>(
  session: SqlSession,
  dialect: SqlDialect,
  table: SqlTable<row>,
  rows: readonly VersionedRow[],
  seen?: SeenRows | undefined,
): Promise<void> {
  const fixed: readonly string[] = [...table.key, 'version']
  const encode = (chunk: readonly VersionedRow[]) => {
    const changed = findChanged(table, chunk, seen)
    const members = membersOf(table).filter(
      (one) => changed.has(one) || fixed.includes(one.member),
    )
    return { json: encodeRows(members, chunk), members }
  }
  await inChunks({ table, dialect, encode }, rows, async (encoded, chunk) => {
    const { json, members } = encoded
    await checkIdentities({ session, dialect }, table, chunk, members)
    const shape = { table: table.name, members, fixed }
    const values = { json }
    const { numAffectedRows } = await runQuery(
      { session, dialect },
      rowsUpdated,
      { shape, values },
    ).catch(throwDuplicate(table.name))
    if (numAffectedRows === BigInt(chunk.length)) return
    const place = { session, dialect }
    const archived = await findArchivedByKey(place, table, chunk)
    if (archived.length > 0) throw new ArchivedFault(archived)
    throw new StaleRecordError({ table: table.name })
  })
}

/**
 * Refuses an update that gives a row the identity of another row, in the
 * archive. The unique indexes of the table know nothing of that row.
 *
 * @throws {@link DuplicateRecordError}
 */
async function checkIdentities<row>(
  { session, dialect }: QueryPlace,
  table: SqlTable<row>,
  rows: readonly object[],
  changed: readonly Member[],
): Promise<void> {
  const keys: readonly string[] = table.key
  const isFree = ({ member }: Member) => !keys.includes(member)
  const free = changed.filter(isFree).map(({ member }) => member)
  for (const identity of table.identities ?? []) {
    if (!identity.some((member) => free.includes(member))) continue
    const { given } = keysOf(dialect, table, rows, identity)
    const isAlike = (members: readonly string[]) =>
      members
        .map(columnName)
        .map((column) => `kept."${column}" = given."${column}"`)
        .join(' and ')
    const { rows: alike } = await sql`select 1
      from ${sql.table(`archived_${table.name}`)} as kept, ${given}
      where ${sql.raw(isAlike(identity))} and not (${sql.raw(isAlike(keys))})
      limit 1`.execute(session)
    if (alike.length > 0) throw new DuplicateRecordError({ table: table.name })
  }
}

/**
 * Finds the orders whose rows in the archive have the keys of these rows. The
 * given rows themselves may name other orders.
 */
export async function findArchivedByKey<row>(
  { session, dialect }: QueryPlace,
  table: SqlTable<row>,
  rows: readonly object[],
): Promise<string[]> {
  if (!table.identities) return []
  const { columns, given } = keysOf(dialect, table, rows)
  const id = table.name === 'orders' ? 'kept.id' : 'kept.order_id'
  // With `in`, SQLite may use another index than that of the key.
  const matches = columns.map((column) => `kept.${column} = given.${column}`)
  const { rows: found } = await sql<{ id: string }>`
    select distinct ${sql.ref(id)} as id
    from ${sql.table(`archived_${table.name}`)} as kept, ${given}
    where ${sql.raw(matches.join(' and '))}`.execute(session)
  return found.map(({ id }) => id)
}

function rowsUpdated(
  { session, dialect }: QueryPlace,
  { table, members, fixed }: RowsShape & { fixed: readonly string[] },
  slot: Slot<{ json: string }>,
): CompiledQuery<unknown> {
  const matches = fixed.map(columnName).map((column) => {
    return `kept."${column}" = given."${column}"`
  })
  const cells = members.map(
    ({ kind, column }, index) => `${dialect.cell(kind, index)} as "${column}"`,
  )
  const changes = members
    .filter(({ member }) => !fixed.includes(member))
    .map(({ column }) => `"${column}" = given."${column}"`)
  return sql`update ${sql.table(table)} as kept
    set ${sql.raw(['version = kept.version + 1', ...changes].join(', '))}
    from (select ${sql.raw(cells.join(', '))} from ${dialect.rows(slot('json'))}) as given
    where ${sql.raw(matches.join(' and '))}`.compile(session)
}

function findChanged<row>(
  table: SqlTable<row>,
  rows: readonly VersionedRow[],
  seen: SeenRows | undefined,
): ReadonlySet<Member> {
  const changed = new Set<Member>()
  const all = membersOf(table).filter(({ member }) => member !== table.given)
  for (const row of rows) {
    const kept = seen?.find(table, row)
    for (const one of all) {
      if (changed.has(one)) continue
      // Never treats a JSON value as unchanged: the caller may have changed the
      // same object.
      const isSame =
        kept !== undefined &&
        Reflect.get(kept, one.member) === Reflect.get(row, one.member) &&
        (one.kind !== 'json' || Reflect.get(row, one.member) === undefined)
      if (!isSame) changed.add(one)
    }
  }
  return changed
}

type Member = { member: string; column: string; kind: ColumnKind }

export function columnsOf<row>(table: SqlTable<row>): string[] {
  return membersOf(table).map(({ column }) => column)
}

/** Caches the members of each table, because every statement needs them. */
const known = /* @__PURE__ */ new WeakMap<object, readonly Member[]>()

function membersOf<row>(table: SqlTable<row>): readonly Member[] {
  const found = known.get(table)
  if (found) return found
  const members = Object.entries<ColumnKind>(table.columns).map(
    ([member, kind]) => ({ member, column: columnName(member), kind }),
  )
  known.set(table, members)
  return members
}

function encodeRows(
  members: readonly Member[],
  rows: readonly object[],
): string {
  return JSON.stringify(
    rows.map((row) =>
      members.map(({ member, kind }) =>
        encodeCell(kind, Reflect.get(row, member)),
      ),
    ),
  )
}

/** Halves a chunk whose JSON is too long for one parameter. */
async function inChunks<row, encoded extends { json: string }>(
  {
    table: { mostRows = usualRows },
    dialect: { mostJson },
    encode,
  }: {
    table: { readonly mostRows?: number }
    dialect: SqlDialect
    encode: (chunk: readonly row[]) => encoded
  },
  rows: readonly row[],
  write: (encoded: encoded, chunk: readonly row[]) => Promise<void>,
): Promise<void> {
  const writeChunk = async (chunk: readonly row[]): Promise<void> => {
    const encoded = encode(chunk)
    if (encoded.json.length <= mostJson || chunk.length === 1)
      return write(encoded, chunk)
    const half = Math.ceil(chunk.length / 2)
    await writeChunk(chunk.slice(0, half))
    await writeChunk(chunk.slice(half))
  }
  for (let from = 0; from < rows.length; from += mostRows)
    await writeChunk(rows.slice(from, from + mostRows))
}

const throwDuplicate =
  (table: string) =>
  (error: unknown): never => {
    if (error instanceof SqlFault && error.kind === 'duplicate')
      throw new DuplicateRecordError({ table })
    throw error
  }
