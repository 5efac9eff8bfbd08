import { memoryStore } from 'countersign/store'
import { type Address, createClient, custom, type Hex, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { createContext } from '../../../src/orders/createContext.js'
import { auditOrders } from '../../../src/orders/verbs/auditOrders.js'
import { sampleProof } from '../../storeCases/samples.js'

const account: Address = `0x${'1'.repeat(40)}`
const token: Address = `0x${'2'.repeat(40)}`
const payer: Address = `0x${'3'.repeat(40)}`
const transfer =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const word = (value: number | bigint): Hex => numberToHex(value, { size: 32 })

/** Payments in each block. */
const perBlock = 10

/** The block of a payment. The hash of block 0 would be that of no block. */
const blockOf = (n: number) => Math.floor(n / perBlock) + 1

const logOf = (n: number) => ({
  address: token,
  topics: [transfer, word(BigInt(payer)), word(BigInt(account))],
  data: word(5),
  blockNumber: numberToHex(blockOf(n)),
  blockHash: word(blockOf(n)),
  transactionHash: word(n),
  transactionIndex: numberToHex(n % perBlock),
  logIndex: numberToHex(n % perBlock),
  removed: false,
})

/** A shop whose record and chain have so many payments. */
async function paidShop(payments: number) {
  const head = blockOf(payments)
  /** Logs of each answer of the node. */
  const answers: number[] = []
  const client = createClient({
    account,
    transport: custom({
      request: async ({ method, params }) => {
        if (method === 'eth_getBlockByNumber')
          return {
            number: numberToHex(head),
            timestamp: numberToHex(1_750_000_000),
            hash: word(head),
            transactions: [],
          }
        if (method !== 'eth_getLogs') return null
        const [{ fromBlock, toBlock, topics }] = params
        // The recipient paid nothing out.
        if (topics[1] !== null) return []
        const end = Math.min(payments, Number(toBlock) * perBlock)
        const logs: object[] = []
        for (let n = (Number(fromBlock) - 1) * perBlock; n < end; n++)
          logs.push(logOf(n))
        answers.push(logs.length)
        return logs
      },
    }),
    chain: {
      id: 1,
      name: 'One',
      rpcUrls: { default: { http: [] } },
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    },
  })
  const store = memoryStore({ volatile: true })
  const destination = { chainId: 1, token, recipient: account }
  const proofs = Array.from({ length: payments }, (_, n) =>
    sampleProof(destination, {
      kind: 'capture',
      transactionHash: word(n),
      blockHash: word(blockOf(n)),
      blockNumber: BigInt(blockOf(n)),
      logIndex: n % perBlock,
      payer,
      value: 5n,
    }),
  )
  await store.write((it) => it.proofs.insert(proofs))
  /** Most proofs that one read returned. */
  const pages: number[] = []
  const read: typeof store.read = (work) =>
    store.read((tables) =>
      work({
        ...tables,
        proofs: {
          find: async (query) => {
            const rows = await tables.proofs.find(query)
            pages.push(rows.length)
            return rows
          },
        },
      }),
    )
  const context = createContext({
    store: { ...store, read },
    seal: 'none',
    tokens: [{ client, token }],
    wallets: [client],
  })
  return { context, answers, pages }
}

test('an audit reads record and chain in small parts, and others get their turn in between', async () => {
  const payments = 4_500
  const { context, answers, pages } = await paidShop(payments)
  let turns = 0
  let isOver = false
  const others = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
  })()
  const report = await auditOrders(context)
  isOver = true
  await others
  expect(report).toMatchObject({
    ok: true,
    destinations: [
      {
        chain: { count: payments, value: 5n * BigInt(payments) },
        captured: { count: payments, value: 5n * BigInt(payments) },
        unmatched: { count: 0 },
      },
    ],
  })
  const parts = payments / 150
  expect(Math.max(...answers)).toBeLessThanOrEqual(2_560)
  expect(answers.length).toBeGreaterThanOrEqual(parts)
  expect(Math.max(...pages)).toBeLessThanOrEqual(150)
  expect(turns).toBeGreaterThanOrEqual(parts)
})
