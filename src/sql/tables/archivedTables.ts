import {
  type AliasedRawBuilder,
  type Expression,
  type RawBuilder,
  sql,
} from 'kysely'
import type { QueryPlace } from './runQuery.js'
import { SqlFault } from './sqlFault.js'
import type { ArchivedTable, Side, SqlTables } from './sqlTables.js'

/** The sides on which a query searches. */
export const onlyLive: readonly Side[] = ['live']
export const bothSides: readonly Side[] = ['live', 'archive']

export function tableOn<name extends ArchivedTable>(
  side: Side,
  table: name,
): name | `archived_${name}` {
  return side === 'live' ? table : `archived_${table}`
}

/** The table of one side, with the live table's name as its alias. */
export function fromSide<name extends ArchivedTable>(
  side: Side,
  table: name,
): AliasedRawBuilder<SqlTables[name], name> {
  return sql<SqlTables[name]>`${sql.table(tableOn(side, table))}`.as(table)
}

/** Builds one query of the rows of these sides. */
export function ofSides(
  sides: readonly Side[],
  build: (side: Side) => Expression<unknown>,
  order: string,
): RawBuilder<object> {
  const parts = sides.map((side) => sql`select * from ${build(side)} as part`)
  return sql<object>`select * from (${sql.join(parts, sql` union all `)}) as merged
    order by ${sql.raw(order)}`
}

/** Returns those of the orders that are in the archive. */
export async function findArchived(
  { session, dialect }: QueryPlace,
  orderIds: readonly string[],
): Promise<string[]> {
  if (orderIds.length === 0) return []
  const list = dialect.listOf('text', orderIds)
  const { rows } = await sql<{ id: string }>`select id from archived_orders
    where ${dialect.among('id', 'text', list)}`.execute(session)
  return rows.map(({ id }) => id)
}

/**
 * A transaction would update rows of orders that are in the archive. It runs
 * again after they were moved back.
 */
export class ArchivedFault extends SqlFault {
  readonly orderIds: readonly string[]

  constructor(orderIds: readonly string[]) {
    super('rolledBack', 'archived')
    this.orderIds = orderIds
  }
}
