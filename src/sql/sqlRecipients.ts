import { sql } from 'kysely'
import type { RecipientQuery, RecipientRecord } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import {
  findOfMany,
  groupByToken,
  inPart,
  type SearchedPart,
} from './tables/sqlDestinations.js'
import { decodeRows } from './tables/sqlRows.js'
import { recipientTable } from './tables/sqlTables.js'

/**
 * A write that finds recipients by their destination shares a lock on their
 * rows: nobody removes them, or moves them to another shop, until it ends.
 */
export async function findRecipients(
  { session, dialect, locks }: Finder,
  query: RecipientQuery,
): Promise<RecipientRecord[]> {
  const recipients = session.selectFrom('recipients').selectAll()
  if ('shop' in query) {
    const rows = await recipients
      .where('shop', '=', query.shop)
      .orderBy('chain_id')
      .orderBy('token')
      .orderBy('recipient')
      .execute()
    return decodeRows(recipientTable, rows)
  }
  const { destinations } = query
  const find = async (places: readonly SearchedPart[]) => {
    if (places.length === 0) return []
    const parts = places.map((place) => sql`(${inPart(dialect, place)})`)
    const rows = await recipients
      .where(sql<boolean>`${sql.join(parts, sql` or `)}`)
      .$if(locks, (found) => found.forShare())
      .execute()
    return decodeRows(recipientTable, rows)
  }
  return destinations.length > dialect.mostNamed
    ? findOfMany(destinations, { locks: false }, find)
    : find(groupByToken(destinations))
}
