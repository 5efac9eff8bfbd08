import { sql } from 'kysely'
import { DuplicateRecordError, StaleRecordError } from '../../store/errors.js'
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

/** Rows that go into one statement. */
const maxRows = 500

/** Whole rows as they were read, as records. */
export function decodeRows<row>(
  table: SqlTable<row>,
  rows: readonly object[],
): row[] {
  const members = membersOf(table)
  return rows.map((cells) => {
    const record: Record<string, unknown> = {}
    for (const { member, kind, column } of members)
      record[member] = decodeCell(kind, Reflect.get(cells, column))
    // `Columns` ties every member of the record to a column that holds it.
    return record as row
  })
}

/**
 * Adds rows, in one statement for some hundred.
 *
 * @throws {@link DuplicateRecordError} when one is there already.
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
  const columns = members.map(({ column }) => `"${column}"`).join(', ')
  const cells = members.map(({ kind }, index) => dialect.cell(kind, index))
  await inChunks(rows, async (chunk) => {
    const json = encodeRows(members, chunk)
    const insert = sql`insert into ${sql.table(table.name)}
      (${sql.raw(columns)}) select ${sql.raw(cells.join(', '))}
      from ${dialect.rows(json)}`
    await insert.execute(session).catch(throwDuplicate(table.name))
  })
}

/**
 * Replaces rows whose version is the one given, in one statement for some
 * hundred. Columns in which all of them are as they were seen at that version
 * are left alone, and so are their indexes.
 *
 * @throws {@link StaleRecordError} when one is missing or was written since.
 * @throws {@link DuplicateRecordError} when another one is like it now.
 */
export async function updateRows<row>(
  session: SqlSession,
  dialect: SqlDialect,
  table: SqlTable<row>,
  rows: readonly VersionedRow[],
  seen?: SeenRows | undefined,
): Promise<void> {
  const fixed: readonly string[] = [...table.key, 'version']
  const matches = fixed.map(columnName).map((column) => {
    return `kept."${column}" = given."${column}"`
  })
  await inChunks(rows, async (chunk) => {
    const changed = findChanged(table, chunk, seen)
    const members = membersOf(table).filter(
      (one) => changed.has(one) || fixed.includes(one.member),
    )
    const cells = members.map(
      ({ kind, column }, index) =>
        `${dialect.cell(kind, index)} as "${column}"`,
    )
    const changes = members
      .filter(({ member }) => !fixed.includes(member))
      .map(({ column }) => `"${column}" = given."${column}"`)
    const json = encodeRows(members, chunk)
    const update = sql`update ${sql.table(table.name)} as kept
      set ${sql.raw(['version = kept.version + 1', ...changes].join(', '))}
      from (select ${sql.raw(cells.join(', '))} from ${dialect.rows(json)}) as given
      where ${sql.raw(matches.join(' and '))}`
    const { numAffectedRows } = await update
      .execute(session)
      .catch(throwDuplicate(table.name))
    if (numAffectedRows !== BigInt(chunk.length))
      throw new StaleRecordError({ table: table.name })
  })
}

/** Members in which any of the rows may be other than it is kept. */
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
      // Objects may have been written to in their place.
      const isSame =
        kept !== undefined &&
        one.kind !== 'json' &&
        Reflect.get(kept, one.member) === Reflect.get(row, one.member)
      if (!isSame) changed.add(one)
    }
  }
  return changed
}

type Member = { member: string; column: string; kind: ColumnKind }

/** Asked for with every statement, and the same as long as the table is. */
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

async function inChunks<row>(
  rows: readonly row[],
  write: (chunk: readonly row[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < rows.length; from += maxRows)
    await write(rows.slice(from, from + maxRows))
}

const throwDuplicate =
  (table: string) =>
  (error: unknown): never => {
    if (error instanceof SqlFault && error.kind === 'duplicate')
      throw new DuplicateRecordError({ table })
    throw error
  }
