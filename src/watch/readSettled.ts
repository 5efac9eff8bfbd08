import type { Finality } from '../base/types.js'
import type { OrdersContext } from '../ledger/types.js'
import type { OrderRecord, ProofRecord, Scope } from '../store/types.js'

const pageSize = 500

type Range = { fromBlock?: bigint | undefined; toBlock?: bigint | undefined }

/** All orders settled with a grade in these blocks, the lowest first. */
export function readSettled(
  { store }: Pick<OrdersContext, 'store'>,
  scope: Scope,
  grade: Finality,
  { fromBlock, toBlock }: Range,
): Promise<OrderRecord[]> {
  return store.read(({ orders }) =>
    readPages(
      (from, limit) =>
        orders.find({ settled: scope, grade, fromBlock: from, toBlock, limit }),
      {
        fromBlock,
        blockOf: ({ settledBlock }) => settledBlock ?? 0n,
        keyOf: ({ id }) => id,
      },
    ),
  )
}

/** All proofs in these blocks that stand, in the order of the chain. */
export async function readProofs(
  { store }: Pick<OrdersContext, 'store'>,
  scope: Scope,
  fromBlock: bigint,
): Promise<ProofRecord[]> {
  const found = await store.read(({ proofs }) =>
    readPages(
      (from, limit) => proofs.find({ scopes: [scope], fromBlock: from, limit }),
      {
        fromBlock,
        blockOf: ({ blockNumber }) => blockNumber,
        keyOf: (proof) => `${proof.transactionHash}/${proof.logIndex}`,
      },
    ),
  )
  return found.filter(({ removed }) => !removed)
}

/** Pages begin at a block, so a block with more rows asks for a longer one. */
async function readPages<row>(
  find: (fromBlock: bigint | undefined, limit: number) => Promise<row[]>,
  {
    fromBlock,
    blockOf,
    keyOf,
  }: {
    fromBlock: bigint | undefined
    blockOf: (row: row) => bigint
    keyOf: (row: row) => string
  },
): Promise<row[]> {
  const rows = new Map<string, row>()
  let from = fromBlock
  let limit = pageSize
  for (;;) {
    const page = await find(from, limit)
    for (const row of page) rows.set(keyOf(row), row)
    const last = page.at(-1)
    if (!last || page.length < limit) return [...rows.values()]
    if (from === blockOf(last)) limit *= 2
    from = blockOf(last)
  }
}
