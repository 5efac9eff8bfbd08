import { createReadClient, decodeTokenLog } from 'countersign/reads'
import { createPublicClient, erc20Abi, http, parseEventLogs } from 'viem'
import { compare, type Row } from './compare.js'
import { sized } from './sized.js'
import { type BenchServer, startReadsNode } from './startServer.js'

const rounds = sized(25, 1)
const count = 300

/** The receipts of full blocks, typed, with their 750 transfers decoded. */
export async function benchReadsReceipts(): Promise<Row[]> {
  const node = await startReadsNode()
  try {
    // Nobody reads a block twice: each round has one of its own.
    const unread: Decoders[] = []
    for (let round = 0; round < rounds + 3; round++) {
      const candidates = decoders(node, BigInt(count + 1000 * round))
      const sums = [await candidates.countersign(), await candidates.viem()]
      if (!sums[0] || sums[0] !== sums[1]) throw new Error('The logs differ.')
      unread.push(candidates)
    }
    const { viem = Number.NaN } = await compare('countersign', {
      rounds,
      prepare: () => unread.shift() ?? {},
    })
    return [
      {
        name: `getBlockReceipts + decodeTokenLog, ${count}`,
        peer: 'viem getBlockReceipts, parseEventLogs',
        ratio: viem,
        goal: 6,
        unit: 'time',
      },
    ]
  } finally {
    node.stop()
  }
}

type Decoders = Record<'countersign' | 'viem', () => Promise<bigint>>

function decoders({ url }: BenchServer, block: bigint): Decoders {
  const ours = createReadClient({ url })
  const theirs = createPublicClient({ transport: http(url) })
  return {
    countersign: async () => {
      let sum = 0n
      const { receipts } = await ours.getBlockReceipts({ block })
      for (const { gasUsed, logs } of receipts) {
        sum += gasUsed
        for (const log of logs) {
          const transfer = decodeTokenLog(log)
          if (transfer?.name === 'Transfer') sum += transfer.value
        }
      }
      return sum
    },
    viem: async () => {
      let sum = 0n
      const receipts = await theirs.getBlockReceipts({ blockNumber: block })
      for (const { gasUsed, logs } of receipts) {
        sum += gasUsed
        const transfers = parseEventLogs({
          abi: erc20Abi,
          eventName: 'Transfer',
          logs,
        })
        for (const { args } of transfers) sum += args.value
      }
      return sum
    },
  }
}
