import { sql } from 'kysely'
import type { SqlDialect } from '../tables/sqlEngine.js'

export const sqliteDialect: SqlDialect = {
  types: {
    text: 'text',
    id: 'text',
    integer: 'integer',
    amount: 'text',
    bytes: 'blob',
    boolean: 'integer',
    position: 'integer primary key',
    end: ' strict',
  },
  clock: `cast(unixepoch('subsec') * 1000 as integer)`,
  newFence: `(select coalesce(max(last), 0) + 1 from counters
    where name = 'fences')`,
  turn: () => sql``,
  countsFences: true,
  // Rows need no locks, because only one transaction can write at a time.
  locksRows: false,
  mostNamed: 100,
  // SQLite allows 500 queries in one union, but also unions of unions.
  mostUnited: 250,
  mostJson: Number.POSITIVE_INFINITY,
  cell: (kind, index) => {
    if (kind === 'bytes') return `unhex(value ->> ${index})`
    if (kind === 'number' || kind === 'bigint')
      return `cast(value ->> ${index} as integer)`
    return `value ->> ${index}`
  },
  textBeforeSpace: (column) =>
    `substr(${column}, 1, max(instr(${column}, ' ') - 1, 0))`,
  rows: (json, condition = 'true') =>
    sql`json_each(${json}) where ${sql.raw(condition)} order by key`,
  among: (column, kind, list) => {
    const value = sql.raw(kind === 'bytes' ? 'unhex(value)' : 'value')
    return sql<boolean>`${sql.ref(column)} in
      (select ${value} from json_each(${list}))`
  },
  listOf: (kind, values) =>
    JSON.stringify(
      kind === 'bytes' ? values.map((text) => text.slice(2)) : values,
    ),
}
