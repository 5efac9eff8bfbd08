import { memoryStore } from 'countersign/store'
import { type Address, type Hex, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { readLedger } from '../../../../src/orders/ledger/readLedger.js'
import {
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from '../../../storeCases/samples.js'
import { contextOver } from '../../support/contextOver.js'

const account: Address = `0x${'1'.repeat(40)}`
const destination = { chainId: 1, token: account, recipient: account }
const count = 3_000
const word = (value: number): Hex => numberToHex(value, { size: 32 })

/** A store of captures in blocks of ten, and the largest answer it gave. */
async function filledStore() {
  const store = memoryStore({ volatile: true })
  const numbers = Array.from({ length: count }, (_, n) => n)
  await store.write(async ({ orders, proofs, transactions }) => {
    await orders.insert(
      numbers.map((n) => sampleOrder(destination, { id: `order ${n}` })),
    )
    await proofs.insert(
      numbers.map((n) =>
        sampleProof(destination, {
          kind: 'capture',
          orderId: `order ${n}`,
          transactionHash: word(n + 1),
          blockNumber: BigInt(Math.floor(n / 10)),
          blockTime: BigInt(Math.floor(n / 10)),
          logIndex: n % 10,
          value: 5n,
          submitter: account,
          gasUsed: 2n,
          effectiveGasPrice: 3n,
        }),
      ),
    )
    await transactions.insert(
      numbers.map((n) =>
        sampleTransaction(
          { chainId: 1, account },
          {
            nonce: n,
            hash: word(n + 1),
            movements: [{ orderId: `order ${n}`, attempt: 1 }],
          },
        ),
      ),
    )
  })
  let largest = 0
  let reads = 0
  const read: typeof store.read = (work) => {
    reads++
    return store.read((tables) => {
      const noted = <row, query>(table: {
        find: (query: query) => Promise<row[]>
      }) => ({
        ...table,
        find: async (query: query) => {
          const rows = await table.find(query)
          largest = Math.max(largest, rows.length)
          return rows
        },
      })
      return work({
        ...tables,
        proofs: noted(tables.proofs),
        transactions: noted(tables.transactions),
      })
    })
  }
  return {
    context: contextOver({ ...store, read }),
    largest: () => largest,
    reads: () => reads,
  }
}

test('the books are loaded in small pages, others get their turn between them, and nothing is loaded ahead', async () => {
  const { context, largest } = await filledStore()
  let turns = 0
  let isOver = false
  const others = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
  })()
  let rows = 0
  let net = 0n
  let fee = 0n
  let last = 0n
  for await (const row of readLedger(context)) {
    expect(row.blockTime).toBeGreaterThanOrEqual(last)
    last = row.blockTime
    rows++
    net += row.gross
    fee += row.fee
  }
  isOver = true
  await others
  expect([rows, net, fee]).toEqual([
    2 * count,
    5n * BigInt(count),
    6n * BigInt(count),
  ])
  expect(largest()).toBeLessThanOrEqual(150)
  expect(turns).toBeGreaterThanOrEqual(count / 150)
})

test('a reader that stops loads no further page', async () => {
  const { context, reads } = await filledStore()
  for await (const _ of readLedger(context)) break
  const first = reads()
  expect(first).toBeLessThan(12)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(reads()).toBe(first)
})

test('a short range is found without reading what is before it', async () => {
  const { context, reads } = await filledStore()
  const rows = []
  for await (const row of readLedger(context, { from: 290n, to: 291n }))
    rows.push(row)
  expect(rows).toHaveLength(20)
  expect(rows.every(({ blockTime }) => blockTime === 290n)).toBe(true)
  // Two searches by halves, instead of all pages.
  expect(reads()).toBeLessThan(60)
})
