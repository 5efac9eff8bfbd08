import { nextTurn } from '../../core/wait.js'
import type { Destination, ProofRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findProofPages } from '../watcher/findSettled.js'
import { findFirst } from './findFirst.js'
import type { LedgerRange } from './types.js'

/**
 * Stored payments and cancellations on a page. Handling a page blocks the event
 * loop for some milliseconds.
 */
const pageSize = 150

/** Rows to load in each step of the binary search for a time. */
const lookSize = 20

type Context = Pick<OrdersContext, 'store' | 'signal'>

/**
 * Yields the stored payments and cancellations of a destination whose blocks
 * are in a time range, page by page and in chain order. Leaves out those that a
 * reorganization removed.
 */
export async function* proofsOnRecord(
  { store, signal }: Context,
  destination: Destination,
  { from, to }: LedgerRange,
): AsyncGenerator<ProofRecord[]> {
  const proofs = {
    find: async (query: Parameters<typeof findPage>[1]) => {
      // Pause between pages: without it, many pages would block the event loop.
      await nextTurn()
      signal?.throwIfAborted()
      return findPage({ store }, query)
    },
  }
  const first =
    from === 0n ? 0n : await findFirstBlock({ store }, destination, from)
  const pages = findProofPages({ proofs }, [destination], first, pageSize)
  for await (const page of pages) {
    const standing = page.filter(({ removed }) => !removed)
    yield standing.filter(
      ({ blockTime }) => blockTime >= from && blockTime < to,
    )
    if (standing.some(({ blockTime }) => blockTime >= to)) return
  }
}

const findPage = (
  { store }: Pick<OrdersContext, 'store'>,
  query: {
    destinations: readonly Destination[]
    fromBlock?: bigint | undefined
    limit: number
  },
): Promise<ProofRecord[]> => store.read(({ proofs }) => proofs.find(query))

/** Finds a block before which all stored payments are older than a time. */
function findFirstBlock(
  context: Pick<OrdersContext, 'store'>,
  destination: Destination,
  time: bigint,
): Promise<bigint> {
  return findFirst(async (block) => {
    for (let fromBlock = block; ; ) {
      const rows = await findPage(context, {
        destinations: [destination],
        fromBlock,
        limit: lookSize,
      })
      const standing = rows.find(({ removed }) => !removed)
      if (standing) return standing.blockTime < time
      const last = rows.at(-1)
      if (!last || rows.length < lookSize) return false
      fromBlock = last.blockNumber + 1n
    }
  })
}
