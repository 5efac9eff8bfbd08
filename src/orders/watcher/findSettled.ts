import { addAll } from '../../core/addAll.js'
import type { Finality } from '../../core/types.js'
import type {
  Destination,
  OrderQuery,
  OrderRecord,
  ProofQuery,
  ProofRecord,
  Reader,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'

const pageSize = 500

type Range = { fromBlock?: bigint | undefined; toBlock?: bigint | undefined }

/**
 * Returns all orders settled in these block ranges, one range after the other,
 * lowest block first.
 */
export async function findSettled(
  { store }: Pick<OrdersContext, 'store'>,
  destinations: readonly Destination[],
  ranges: readonly (Range & { finality: Finality })[],
): Promise<OrderRecord[]> {
  return store.read(async (tables) => {
    const rows: OrderRecord[] = []
    for (const { finality, ...range } of ranges) {
      const pages = findSettledPages(tables, destinations, finality, range)
      for await (const page of pages) addAll(rows, page)
    }
    return rows
  })
}

export function findSettledPages(
  { orders }: { orders: Reader<OrderRecord, OrderQuery> },
  destinations: readonly Destination[],
  finality: Finality,
  { fromBlock, toBlock }: Range,
): AsyncGenerator<OrderRecord[]> {
  return findPages(
    (from, limit) =>
      orders.find({
        settled: destinations,
        finality,
        fromBlock: from,
        toBlock,
        limit,
      }),
    {
      fromBlock,
      blockOf: ({ settledBlock }) => settledBlock ?? 0n,
      keyOf: ({ id }) => id,
    },
  )
}

/**
 * Returns all stored payments and cancellations at or after `fromBlock` that no
 * reorganization removed, in chain order.
 */
export async function findStandingProofs(
  { proofs }: { proofs: Reader<ProofRecord, ProofQuery> },
  destinations: readonly Destination[],
  fromBlock: bigint,
  signal?: AbortSignal | undefined,
): Promise<ProofRecord[]> {
  const pages = findProofPages({ proofs }, destinations, fromBlock)
  const rows: ProofRecord[] = []
  for await (const page of pages) {
    signal?.throwIfAborted()
    addAll(rows, page)
  }
  return rows.filter(({ removed }) => !removed)
}

/**
 * Yields all stored payments and cancellations at or after `fromBlock`, page by
 * page, including those that a reorganization removed.
 */
export function findProofPages(
  { proofs }: { proofs: Reader<ProofRecord, ProofQuery> },
  destinations: readonly Destination[],
  fromBlock: bigint,
  size: number = pageSize,
): AsyncGenerator<ProofRecord[]> {
  return findPages(
    (from, limit) => proofs.find({ destinations, fromBlock: from, limit }),
    {
      fromBlock,
      size,
      blockOf: ({ blockNumber }) => blockNumber,
      keyOf: (proof) => `${proof.transactionHash}/${proof.logIndex}`,
    },
  )
}

/**
 * Yields each row once. A page starts with all rows of one block, so if a block
 * has more rows than fit, the page is made larger.
 */
async function* findPages<row>(
  find: (fromBlock: bigint | undefined, limit: number) => Promise<row[]>,
  {
    fromBlock,
    size = pageSize,
    blockOf,
    keyOf,
  }: {
    fromBlock: bigint | undefined
    size?: number | undefined
    blockOf: (row: row) => bigint
    keyOf: (row: row) => string
  },
): AsyncGenerator<row[]> {
  let seen = new Set<string>()
  let from = fromBlock
  let limit = size
  for (;;) {
    const page = await find(from, limit)
    yield page.filter((row) => !seen.has(keyOf(row)))
    const last = page.at(-1)
    if (!last || page.length < limit) return
    seen = new Set(page.map(keyOf))
    limit = from === blockOf(last) ? limit * 2 : size
    from = blockOf(last)
  }
}
