import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { findBlockAt } from '../evidence/findBlockAt.js'
import { findCanonical } from '../evidence/findCanonical.js'
import type { OrdersContext } from '../model/types.js'
import type { Watch } from './checkReorg.js'
import { type DestinationCursor, readCursor } from './watchState.js'

/** Blocks read again before the cursor. */
const overlap = 64n

/** No order is older, as far as is asked. */
const mostAsked = 1000

const endOfTime = 2n ** 62n

/**
 * Where a reconciliation begins: before the cursor, as far back as the chain
 * may have changed since; without one, when the oldest open order was made.
 *
 * @throws {@link NodeAnswerError} when the node is behind the cursor, unless
 * the watch gave that block up or the caller gives the start.
 */
export async function findStart(
  context: OrdersContext,
  watch: Watch & { isDeep: boolean; fromBlock?: bigint | undefined },
): Promise<{
  cursor: DestinationCursor | undefined
  fromBlock: bigint
  /** Nothing is left out between the cursor and the start. */
  isWhole: boolean
}> {
  const { destination, heads, fromBlock: wanted } = watch
  const cursor = await context.store.read((tables) =>
    readCursor(tables, destination),
  )
  if (!cursor) {
    const fromBlock = wanted ?? (await findOldest(context, watch))
    return { cursor, fromBlock, isWhole: true }
  }
  const { last, seen } = await findLast(watch, cursor)
  const kept = { ...cursor, seen }
  if (wanted !== undefined)
    return { cursor: kept, fromBlock: wanted, isWhole: wanted <= last + 1n }
  const { isDeep } = watch
  const near = last + 1n - overlap
  const final = isDeep ? heads.finalized?.number : undefined
  const low = final !== undefined && final < near ? final : near
  const fromBlock = low < cursor.from ? cursor.from : low
  return { cursor: kept, fromBlock, isWhole: true }
}

/** The last reconciled block that is still in the chain. */
async function findLast(
  {
    client,
    heads: { latest, finalized },
    memory: { dropped = -1n },
    fromBlock,
  }: Watch & { fromBlock?: bigint | undefined },
  cursor: DestinationCursor,
): Promise<{ last: bigint; seen: DestinationCursor['seen'] }> {
  const { number } = cursor.last
  const { canonical } = await findCanonical(client, [cursor.last])
  if (canonical.length) return { last: number, seen: cursor.seen }
  const { canonical: seen, isReorged } = await findCanonical(
    client,
    cursor.seen,
  )
  const isGivenUp = fromBlock !== undefined || number <= dropped
  if (!isReorged && !isGivenUp && latest.number < number)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `is older than block ${number}, which was read before`,
    })
  const deepest = cursor.seen[0]?.number ?? number
  const final = finalized?.number ?? deepest
  const lowest = final < deepest ? final : deepest
  return { last: seen.at(-1)?.number ?? lowest, seen }
}

async function findOldest(
  { store }: OrdersContext,
  { client, destination, heads }: Watch,
): Promise<bigint> {
  const found = await store.read(async ({ orders }) => [
    ...(await orders.find({ unsettled: destination, limit: 1 })),
    ...(await orders.find({
      lookDue: destination,
      until: endOfTime,
      limit: mostAsked,
    })),
  ])
  const { latest } = heads
  const oldest = found.reduce(
    (low, { createdAt }) => (createdAt < low ? createdAt : low),
    latest.timestamp,
  )
  return found.length ? findBlockAt(client, oldest, latest) : latest.number
}
