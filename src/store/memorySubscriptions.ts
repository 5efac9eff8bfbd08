import { indexDestinations } from './isInDestinations.js'
import { type Rows, sortRows } from './memoryRows.js'
import type { RowKeys } from './memoryTable.js'
import type {
  Destination,
  SubscriptionQuery,
  SubscriptionRecord,
} from './types.js'

export const subscriptionKeys: RowKeys<SubscriptionRecord> = {
  table: 'subscriptions',
  identity: ({ id }) => id,
  words: () => [],
}

type Filtered = Destination &
  Pick<SubscriptionRecord, 'payer' | 'due' | 'position'>

/**
 * Returns the rows that a query selects. Channels can be selected in the same
 * ways, so they are found here too.
 */
export function filterSubscriptions<row extends Filtered>(
  rows: Rows<row>,
  query: SubscriptionQuery,
): row[] {
  if ('ids' in query)
    return [...new Set(query.ids)].flatMap((id) => rows.get(id) ?? [])
  if ('due' in query) {
    const { until, limit } = query
    const { has } = indexDestinations(query.due)
    const found = rows
      .all()
      .filter(has)
      .filter(({ due }) => due !== undefined && due <= until)
    return sortRows(found, duePlace).slice(0, limit)
  }
  const { listed, payer, before, limit } = query
  const found = rows
    .all()
    .filter(indexDestinations(listed).has)
    .filter((row) => payer === undefined || row.payer === payer)
    .filter(({ position }) => before === undefined || position < before)
  return sortRows(found, ({ position }) => [-position]).slice(0, limit)
}

/**
 * Returns the values by which due subscriptions and channels are sorted: the
 * earliest first, and of equal ones the oldest first.
 */
export function duePlace({
  due = 0n,
  position,
}: Pick<SubscriptionRecord, 'due' | 'position'>): bigint[] {
  return [due, position]
}
