import { randomBytes } from 'node:crypto'
import { createReadClient } from 'countersign/reads'
import { type Address, createPublicClient, getAddress, http } from 'viem'
import { type Candidates, compare, type Row } from './compare.js'
import { type BenchServer, startReadsNode } from './startServer.js'

/** With the header that a read of logs asks for beside them, 100 calls. */
const reads = 90

/** 90 reads of all four kinds in one tick, both as one batch. */
export async function benchReadsBatch(): Promise<Row[]> {
  const node = await startReadsNode()
  try {
    const { viem = Number.NaN } = await compare('countersign', {
      rounds: 200,
      prepare: readers(node),
    })
    return [
      {
        name: `${reads} mixed reads, ${await countOwn(node)} request`,
        peer: 'viem, batch transport',
        ratio: viem,
        goal: 2,
        unit: 'time',
      },
    ]
  } finally {
    node.stop()
  }
}

async function countOwn(node: BenchServer): Promise<number> {
  const before = await node.countRequests()
  await readers(node)().countersign?.(async (work) => {
    await work()
  })
  const count = (await node.countRequests()) - before
  if (count !== 1) throw new Error(`${reads} reads took ${count} requests.`)
  return count
}

/** The accounts of an application, spelled as their owners do. */
const accounts: readonly Address[] = Array.from({ length: 35 }, () =>
  getAddress(`0x${randomBytes(20).toString('hex')}`),
)

function readers({ url }: BenchServer): () => Candidates {
  const ours = createReadClient({ url })
  const theirs = createPublicClient({
    transport: http(url, { batch: { batchSize: 100, wait: 0 } }),
  })
  return () => ({
    countersign: () =>
      Promise.all(
        accounts.flatMap((address, i): Promise<unknown>[] => {
          const block = BigInt(i)
          const two = [
            ours.getBalance({ address, block: 'pending' }),
            ours.getTransactionCount({ address, block: 'pending' }),
          ]
          if (i < 10)
            two.push(
              ours.getLogs({ fromBlock: block, toBlock: block }) as never,
            )
          if (i >= 25) two.push(ours.getBlockReceipts({ block: 1n }) as never)
          return two
        }),
      ),
    viem: () =>
      Promise.all(
        accounts.flatMap((address, i): Promise<unknown>[] => {
          const block = BigInt(i)
          return [
            theirs.getBalance({ address, blockTag: 'pending' }),
            theirs.getTransactionCount({ address, blockTag: 'pending' }),
            ...(i < 10
              ? [theirs.getLogs({ fromBlock: block, toBlock: block })]
              : []),
            ...(i >= 25 ? [theirs.getBlockReceipts({ blockNumber: 1n })] : []),
          ]
        }),
      ),
  })
}
