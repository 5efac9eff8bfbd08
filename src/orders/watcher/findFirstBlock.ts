import type { Client } from 'viem'
import { type BlockHead, getBlockHead } from '../../chain/rpc/requestNode.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { loadCursor } from './destinationCursor.js'

/**
 * Finds the first block that can contain a payment to a destination: the lowest
 * of the blocks of its oldest order, its first stored payment and its first
 * reconciliation. Returns the newest block if the store has none of these.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or lacks a block below its newest one.
 */
export async function findFirstBlock(
  { store }: Pick<OrdersContext, 'store'>,
  client: Client,
  destination: Destination,
  head: BlockHead,
): Promise<bigint> {
  const { cursor, order, proof } = await store.read(async (tables) => {
    const [order] = await tables.orders.find({ oldest: destination, limit: 1 })
    const [proof] = await tables.proofs.find({
      destinations: [destination],
      limit: 1,
    })
    return { cursor: await loadCursor(tables, destination), order, proof }
  })
  const read = lowest(head.number, [cursor?.from, proof?.blockNumber])
  if (!order) return read
  const start = cursor && (await getBlockHead(client, cursor.from))
  // Usually the first reconciliation began before the oldest order. Then the
  // search for the order's block is not needed, which saves dozens of requests.
  if (start && start.timestamp <= order.createdAt) return read
  return lowest(read, [await findBlockAt(client, order.createdAt, head)])
}

function lowest(
  first: bigint,
  others: readonly (bigint | undefined)[],
): bigint {
  return others.reduce<bigint>(
    (low, one) => (one !== undefined && one < low ? one : low),
    first,
  )
}
