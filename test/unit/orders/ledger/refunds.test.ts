import { type LedgerRow, toHledger } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { readLedger } from '../../../../src/orders/ledger/readLedger.js'
import { judgeJournal } from '../../../chain/support/hledger.js'
import {
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from '../../../storeCases/samples.js'
import { contextOver } from '../../support/contextOver.js'
import { textOf } from '../../support/ledgerRow.js'

const account: Address = `0x${'1'.repeat(40)}`
const payer: Address = `0x${'5'.repeat(40)}`
const destination = { chainId: 1, token: account, recipient: account }
const hash = (digit: number): Hex => `0x${String(digit).repeat(64)}`

/** An order of 12 that was paid, and of which 5 were refunded. */
async function openBooks() {
  const store = memoryStore({ volatile: true })
  const settled = (at: number) => ({
    settledHash: hash(at),
    finality: 'finalized' as const,
  })
  const refund = sampleOrder(destination, {
    id: 'order-1\tdamaged',
    role: 'refund',
    parentId: 'order-1',
    payee: payer,
    ...settled(2),
  })
  const proof = (at: number, changes: object) =>
    sampleProof(destination, {
      kind: 'capture',
      transactionHash: hash(at),
      blockNumber: BigInt(at),
      blockTime: BigInt(at),
      submitter: account,
      gasUsed: 10n,
      effectiveGasPrice: 2n,
      ...changes,
    })
  await store.write(async ({ orders, proofs, transactions }) => {
    await orders.insert([
      sampleOrder(destination, { id: 'order-1', ...settled(1) }),
      refund,
    ])
    await proofs.insert([
      proof(1, { orderId: 'order-1', payer, value: 12_000_000n }),
      proof(2, {
        orderId: 'order-1\tdamaged',
        payer: account,
        value: 5_000_000n,
      }),
    ])
    await transactions.insert(
      [1, 2].map((at) =>
        sampleTransaction(
          { chainId: 1, account },
          {
            nonce: at,
            hash: hash(at),
            movements: [
              {
                orderId: at === 1 ? 'order-1' : 'order-1\tdamaged',
                attempt: 1,
              },
            ],
          },
        ),
      ),
    )
  })
  return contextOver(store)
}

test('a transfer without an order in the same transaction does not book its gas again', async () => {
  const context = await openBooks()
  const unmatched = sampleProof(destination, {
    transactionHash: hash(2),
    logIndex: 7,
    blockNumber: 2n,
    blockTime: 2n,
    submitter: account,
    gasUsed: 10n,
    effectiveGasPrice: 2n,
  })
  await context.store.write(({ proofs }) => proofs.insert([unmatched]))
  const fees: unknown[] = []
  for await (const { type, orderId, refundId, fee } of readLedger(context))
    if (type === 'gas') fees.push([orderId, refundId, fee])
  expect(fees).toEqual([
    ['order-1', undefined, 20n],
    ['order-1', 'damaged', 20n],
  ])
})

test('a refund is a row of its order that takes tokens out, and so is its gas', async () => {
  const rows: LedgerRow[] = []
  for await (const row of readLedger(await openBooks())) rows.push(row)
  const of = { orderId: 'order-1', recipient: account, finality: 'finalized' }
  const refundOf = { ...of, refundId: 'damaged' }
  expect(rows).toMatchObject([
    { ...of, type: 'capture', net: 12_000_000n, payer, refundId: undefined },
    { ...of, type: 'gas', fee: 20n, refundId: undefined },
    {
      ...refundOf,
      type: 'refund',
      gross: -5_000_000n,
      net: -5_000_000n,
      payer,
    },
    { ...refundOf, type: 'gas', fee: 20n },
  ])
})

test('in a journal a refund is an expense, and leaves what is left in the account', async () => {
  const text = await textOf(toHledger(readLedger(await openBooks())))
  const { read, judged = read } = await judgeJournal(text)
  expect(judged).toEqual(read)
  expect(read).toMatchObject({
    [`assets:1:${account}:${account}`]: '7',
    [`income:sales:1:${account}:${account}`]: '-12',
    [`expenses:refunds:1:${account}:${account}`]: '5',
  })
})
