import { custom, numberToHex, RpcRequestError, type Transport } from 'viem'
import { seededRandom } from '../../../src/testing/seededRandom.js'

export const address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

export type FakeLog = {
  address: string
  topics: string[]
  data: string
  blockNumber: string
  blockHash: string
  transactionHash: string
  transactionIndex: string
  logIndex: string
  removed: boolean
}

type Block = { hash: string; transactions: number[]; logs: FakeLog[] }

/** A replica's view: how far behind it is, and whether it says so. */
export type Lag = { blocks: number; silent: boolean }

/** Blocks from the newest to the safe one, and from there to the final one. */
const [safeDepth, finalizedDepth] = [12, 8]

/**
 * A chain in memory that grows and reorganizes by a seed. A transaction that
 * loses its block comes again in a later one, or never.
 */
export function forkingChain(seed: number) {
  const random = seededRandom(seed)
  const blocks: Block[] = []
  let waiting: number[] = []
  let count = 0
  let safe = 0
  let highest = 0

  const word = (kind: number, one: number) =>
    `0x${kind}${one.toString(16).padStart(63, '0')}`
  const mine = () => {
    const number = blocks.length
    const fresh = Array.from({ length: Math.floor(random() * 4) }, () => {
      count += 1
      return count
    })
    const transactions = [...waiting, ...fresh]
    waiting = []
    const hash = word(1, Math.floor(random() * 2 ** 50))
    // Every third transaction has two logs that read the same.
    const owners = transactions.flatMap((one) => (one % 3 ? [one] : [one, one]))
    const logs = owners.map((owner, i) => ({
      address,
      topics: [word(3, owner % 5)],
      data: '0x',
      blockNumber: numberToHex(number),
      blockHash: hash,
      transactionHash: word(2, owner),
      transactionIndex: numberToHex(transactions.indexOf(owner)),
      logIndex: numberToHex(i),
      removed: false,
    }))
    blocks.push({ hash, transactions, logs })
    safe = Math.max(safe, number - safeDepth)
    highest = Math.max(highest, number)
  }
  const reorganize = (depth: number) => {
    const unsafe = blocks.length - 1 - safe
    const gone = blocks.splice(
      -Math.min(depth, unsafe),
      Math.min(depth, unsafe),
    )
    waiting = gone
      .flatMap(({ transactions }) => transactions)
      .filter(() => random() < 0.8)
  }
  const answer = (
    { method, params }: { method: string; params?: unknown },
    lag: Lag,
  ): unknown => {
    const head = Math.max(0, blocks.length - 1 - lag.blocks)
    const [first] = Array.isArray(params) ? params : []
    if (method === 'eth_blockNumber') return numberToHex(head)
    if (method === 'eth_getBlockByNumber') {
      const depths: Record<string, number> = {
        latest: head,
        safe: Math.min(safe, head),
        finalized: Math.max(0, Math.min(safe, head) - finalizedDepth),
      }
      const number = depths[first] ?? Number(first)
      const block = number <= head ? blocks[number] : undefined
      if (!block) return null
      return { number: numberToHex(number), hash: block.hash, timestamp: '0x1' }
    }
    const [from, to] = [Number(first.fromBlock), Number(first.toBlock)]
    if (to > head && !lag.silent)
      throw new RpcRequestError({
        body: {},
        url: '',
        error: {
          code: -32602,
          message: 'block range extends beyond current head block',
        },
      })
    return blocks.slice(from, Math.min(to, head) + 1).flatMap((b) => b.logs)
  }

  mine()
  return {
    random,
    mine,
    reorganize,
    /** Mines until no replaced block was ever higher. */
    outgrow: () => {
      for (const goal = highest + 1; blocks.length <= goal; ) mine()
    },
    logs: () => blocks.flatMap((block) => block.logs),
    finalized: () => Math.max(0, safe - finalizedDepth),
    head: () => blocks.length - 1,
    transport: (
      lag: () => Lag = () => ({ blocks: 0, silent: false }),
    ): Transport =>
      custom(
        { request: async (question) => answer(question, lag()) },
        { retryCount: 0 },
      ),
  }
}
