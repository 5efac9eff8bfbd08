import { indexDestinations } from './isInDestinations.js'
import { type Rows, sortRows } from './memoryRows.js'
import { duePlace } from './memorySubscriptions.js'
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
  const { listed, payer, before, limit } = query
  const found = rows
    .all()
    .filter(indexDestinations(listed).has)
    .filter((row) => payer === undefined || row.payer === payer)
    .filter(({ position }) => before === undefined || position < before)
  return sortRows(found, ({ position }) => [-position]).slice(0, limit)
}
