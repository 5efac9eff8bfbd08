import { indexDestinations } from './isInDestinations.js'
import { type Rows, sortRows } from './memoryRows.js'
import type { RowKeys } from './memoryTable.js'
import type { RecipientQuery, RecipientRecord } from './types.js'

const wordOf = ({ chainId, token, recipient }: RecipientRecord): string =>
  `${chainId} ${token} ${recipient}`

export const recipientKeys: RowKeys<RecipientRecord> = {
  table: 'recipients',
  identity: wordOf,
  words: ({ shop }) => [`shop ${shop}`],
}

export function filterRecipients(
  rows: Rows<RecipientRecord>,
  query: RecipientQuery,
): RecipientRecord[] {
  if ('destinations' in query)
    return rows.all().filter(indexDestinations(query.destinations).has)
  const { shop } = query
  const found = rows.pick([`shop ${shop}`]).filter((row) => row.shop === shop)
  return sortRows(found, ({ chainId, token, recipient }) => [
    BigInt(chainId),
    BigInt(token),
    BigInt(recipient),
  ])
}
