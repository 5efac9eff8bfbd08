import { indexDestinations } from './isInDestinations.js'
import { type Rows, sortRows } from './memoryRows.js'
import { filterSubscriptions } from './memorySubscriptions.js'
import type { RowKeys } from './memoryTable.js'
import { sealKeyOf } from './sealKeyOf.js'
import type { ChannelQuery, ChannelRecord } from './types.js'

export const channelKeys: RowKeys<ChannelRecord> = {
  table: 'channels',
  identity: ({ id }) => id,
  words: () => [],
}

export function filterChannels(
  rows: Rows<ChannelRecord>,
  query: ChannelQuery,
): ChannelRecord[] {
  if ('watched' in query) {
    const { watched, after = -1n, limit } = query
    const found = rows
      .all()
      .filter(indexDestinations(watched).has)
      .filter(({ position }) => position > after)
      .filter(
        ({ state, balance, charged, claimed }) =>
          state !== 'stopped' || balance > 0n || charged !== claimed,
      )
    return sortRows(found, ({ position }) => [position]).slice(0, limit)
  }
  if ('sealed' in query) {
    const { sealed, except, after = -1n, limit } = query
    const found = rows
      .all()
      .filter(indexDestinations(sealed).has)
      .filter(({ position }) => position > after)
      .filter(
        ({ voucher }) => voucher !== undefined && sealKeyOf(voucher) !== except,
      )
    return sortRows(found, ({ position }) => [position]).slice(0, limit)
  }
  return filterSubscriptions(rows, query)
}
