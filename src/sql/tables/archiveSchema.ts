import { tableOn } from './archivedTables.js'
import { schema } from './schema.js'
import type { Migration } from './sqlEngine.js'
import type { ArchivedTable } from './sqlTables.js'

/** Indexes that find work to do. Archived orders have none. */
const ofWork: ReadonlySet<string> = new Set([
  'orders_send_due',
  'orders_look_due',
  'orders_settled',
  'orders_unsettled',
  'orders_early',
  'orders_refunds_due',
  'attempts_exposure',
  'attempts_sealed',
  'transactions_in_flight',
  'transactions_sealed',
])

const archived: Readonly<Record<ArchivedTable, true>> = {
  orders: true,
  attempts: true,
  transactions: true,
  movements: true,
  proofs: true,
  events: true,
}

/**
 * Adds the tables of the archive, with the columns of version 1: version 3 of
 * the schema. A later step that adds a column to one of these tables adds it to
 * both.
 */
export const archiveSchema: Migration = (types) => {
  const isArchived = (table = ''): table is ArchivedTable => table in archived
  return schema(types).flatMap((statement) => {
    const [, table] = /^create table (\w+)/.exec(statement) ?? []
    if (isArchived(table))
      return statement
        .replace(table, tableOn('archive', table))
        .replace(types.position, `${types.integer} primary key`)
    const [, index, of] = /index (\w+) on (\w+)/.exec(statement) ?? []
    if (!index || !isArchived(of) || ofWork.has(index)) return []
    return statement.replace(
      `${index} on ${of}`,
      `archived_${index} on ${tableOn('archive', of)}`,
    )
  })
}
