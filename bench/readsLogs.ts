import { createReadClient, decodeTokenLog } from 'countersign/reads'
import { createPublicClient, erc20Abi, getAbiItem, http } from 'viem'
import { compare, type Row } from './compare.js'
import { type BenchServer, startReadsNode } from './startServer.js'

const event = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
const range = { fromBlock: 1_000_000n, toBlock: 1_001_999n }

/** 10,000 transfers between 20,000 addresses, read and decoded. */
export async function benchReadsLogs(): Promise<Row[]> {
  const node = await startReadsNode()
  try {
    const candidates = decoders(node)
    const sums = [await candidates.countersign(), await candidates.viem()]
    if (!sums[0] || sums[0] !== sums[1]) throw new Error('The logs differ.')
    const { viem = Number.NaN } = await compare('countersign', {
      rounds: 9,
      prepare: () => candidates,
    })
    return [
      {
        name: 'getLogs + decodeTokenLog, 10,000 logs',
        peer: 'viem getLogs with event',
        ratio: viem,
        goal: 15,
        unit: 'time',
      },
    ]
  } finally {
    node.stop()
  }
}

function decoders({ url }: BenchServer) {
  const ours = createReadClient({ url })
  const theirs = createPublicClient({ transport: http(url) })
  return {
    countersign: async () => {
      let sum = 0n
      for (const log of await ours.getLogs(range)) {
        const transfer = decodeTokenLog(log)
        if (transfer?.name === 'Transfer') sum += transfer.value
      }
      return sum
    },
    viem: async () => {
      let sum = 0n
      for (const { args } of await theirs.getLogs({ ...range, event }))
        sum += args.value ?? 0n
      return sum
    },
  }
}
