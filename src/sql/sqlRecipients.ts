import { sql } from 'kysely'
import type { RecipientQuery, RecipientRecord } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import {
  findOfMany,
  groupByToken,
  inPart,
  mostNamed,
  type SearchedPart,
} from './tables/sqlDestinations.js'
import { decodeRows } from './tables/sqlRows.js'
import { recipientTable } from './tables/sqlTables.js'

/**
 * Locks no rows, because every writer of recipients first takes the same named
 * lock.
 */
export async function findRecipients(
  { session, dialect }: Finder,
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
      .execute()
    return decodeRows(recipientTable, rows)
  }
  return destinations.length > mostNamed
    ? findOfMany(destinations, { locks: false }, find)
    : find(groupByToken(destinations))
}
