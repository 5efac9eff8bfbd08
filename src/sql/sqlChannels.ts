import { type CompiledQuery, sql } from 'kysely'
import type { Hex } from 'viem'
import { addAll } from '../core/addAll.js'
import { sortRows } from '../store/memoryRows.js'
import { duePlace } from '../store/memorySubscriptions.js'
import type {
  ChannelQuery,
  ChannelRecord,
  Destination,
} from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { type QueryPlace, runQuery, type Slot } from './tables/runQuery.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  findOfMany,
  groupByToken,
  inPart,
  mergeRows,
  partsOf,
  type SearchedPart,
} from './tables/sqlDestinations.js'
import type { SqlList } from './tables/sqlEngine.js'
import { decodeRows } from './tables/sqlRows.js'
import { channelTable } from './tables/sqlTables.js'

export async function findChannels(
  finder: Finder,
  query: ChannelQuery,
): Promise<ChannelRecord[]> {
  if ('ids' in query) return findByIds(finder, query.ids)
  if ('listed' in query)
    return findParts(finder, query.listed, {
      group: partsOf,
      find: (parts) => list(finder, query, parts),
    })
  return findParts(finder, destinationsOf(query), {
    group: groupByToken,
    find: (parts) => searchTokens(finder, query, parts),
  })
}

function destinationsOf(query: TokenSearch): readonly Destination[] {
  if ('due' in query) return query.due
  return 'watched' in query ? query.watched : query.sealed
}

async function findParts(
  finder: Finder,
  destinations: readonly Destination[],
  {
    group,
    find,
  }: {
    group: typeof partsOf
    find: (parts: readonly SearchedPart[]) => Promise<ChannelRecord[]>
  },
): Promise<ChannelRecord[]> {
  return destinations.length > finder.dialect.mostNamed
    ? findOfMany(destinations, finder, find)
    : find(group(destinations))
}

async function findByIds(
  finder: Finder,
  ids: readonly Hex[],
): Promise<ChannelRecord[]> {
  if (ids.length === 0) return []
  const { dialect, locks } = finder
  const { rows } = await runQuery(finder, channelsById, {
    shape: { locks },
    values: { ids: dialect.listOf('bytes', ids) },
  })
  const found = decodeRows(channelTable, rows)
  const byId = new Map(found.map((one) => [one.id, one]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}

function channelsById(
  { session, dialect }: QueryPlace,
  { locks }: { locks: boolean },
  slot: Slot<{ ids: SqlList }>,
): CompiledQuery<object> {
  return (
    session
      .selectFrom('channels')
      .selectAll()
      .where(dialect.among('id', 'bytes', slot('ids')))
      // Every transaction locks rows in this order, so that two of them cannot
      // deadlock.
      .orderBy('id')
      .$if(locks, (query) => query.forUpdate())
      .compile()
  )
}

type TokenSearch = Exclude<
  ChannelQuery,
  { ids: readonly Hex[] } | { listed: unknown }
>

/**
 * Searches each token with its own statement and merges the results, because
 * the indexes begin with chain and token.
 */
async function searchTokens(
  finder: Finder,
  query: TokenSearch,
  parts: readonly SearchedPart[],
): Promise<ChannelRecord[]> {
  const found: ChannelRecord[] = []
  for (const part of parts)
    addAll(
      found,
      decodeRows(channelTable, await searchToken(finder, query, part)),
    )
  if (parts.length < 2) return found
  const place =
    'due' in query
      ? duePlace
      : ({ position }: Pick<ChannelRecord, 'position'>) => [position]
  return sortRows(found, place).slice(0, query.limit)
}

function searchToken(
  { session, dialect, locks }: Finder,
  query: TokenSearch,
  part: SearchedPart,
): Promise<object[]> {
  const channels = session
    .selectFrom('channels')
    .selectAll()
    .limit(BigInt(query.limit))
  if ('due' in query)
    return channels
      .where(inPart(dialect, part))
      .where('due', '<=', query.until)
      .orderBy('due')
      .orderBy('position')
      .$if(locks, (due) => due.forUpdate().skipLocked())
      .execute()
  const key = sql.raw(dialect.textBeforeSpace('voucher'))
  return channels
    .where(inPart(dialect, part, 'filtered'))
    .where(
      'watched' in query
        ? sql<boolean>`(state <> 'stopped' or balance <> '0' or charged <> claimed)`
        : sql<boolean>`(voucher is not null and ${key} <> ${query.except})`,
    )
    .where('position', '>', query.after ?? -1n)
    .orderBy('position')
    .execute()
}

async function list(
  finder: Finder,
  { payer, before, limit }: Extract<ChannelQuery, { listed: unknown }>,
  places: readonly SearchedPart[],
): Promise<ChannelRecord[]> {
  const { session, dialect } = finder
  const parts = places.map((place) => {
    let part = session
      .selectFrom('channels')
      .selectAll()
      .where(inPart(dialect, place))
      .orderBy('position', 'desc')
      .limit(BigInt(limit))
    if (payer !== undefined) part = part.where('payer', '=', toBytes(payer))
    if (before !== undefined) part = part.where('position', '<', before)
    return part
  })
  const order = 'position desc'
  const rows = await mergeRows(finder, parts, { order, limit })
  return decodeRows(channelTable, rows)
}
