import { type DevChain, startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { type Address, createClient, http } from 'viem'
import {
  getBlock,
  getTransactionReceipt,
  mine,
  sendTransaction,
} from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleTransaction } from '../../../storeCases/samples.js'
import { fundedAccount, mined } from '../../support/desk.js'
import { openLedgerShop, rowsOf, sell } from '../../support/ledgerShop.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

test('the gas of a filler is in the books, and one that was never mined is not', async () => {
  const shop = await openLedgerShop(chain)
  const { store, account, recipient, orders } = shop
  await sell(shop, 'sold')
  expect((await orders.capture({ orderId: 'sold' })).status).toBe('captured')
  const hash = await mined(
    chain,
    sendTransaction(chain.clients.payer, { account, to: recipient }),
  )
  const { timestamp } = await getBlock(chain.clients.public)
  const submitter = { chainId: 31337, account: recipient }
  const filler = {
    kind: 'filler',
    orderId: undefined,
    attempt: undefined,
  } as const
  await store.write((it) =>
    it.transactions.insert([
      sampleTransaction(submitter, { ...filler, nonce: 1, hash }),
      sampleTransaction(submitter, { ...filler, nonce: 1, bump: 1 }),
      sampleTransaction(submitter, { ...filler, nonce: 2 }),
    ]),
  )
  const { gasUsed, effectiveGasPrice } = await getTransactionReceipt(
    chain.clients.public,
    { hash },
  )
  for (const from of [0n, timestamp]) {
    const rows = await rowsOf(shop, { from })
    expect(rows.at(-1)).toMatchObject({
      type: 'gas',
      transactionHash: hash,
      orderId: undefined,
      recipient,
      submitter: recipient,
      fee: gasUsed * effectiveGasPrice,
      blockTime: timestamp,
      finality: 'included',
    })
  }
  expect(await rowsOf(shop)).toHaveLength(3)
  expect(await rowsOf(shop, { from: timestamp + 1n })).toEqual([])
  await orders.close()
})

test('gas is in the books once, also where a restored backup lost the transaction', async () => {
  const shop = await openLedgerShop(chain)
  const { store, account, orders } = shop
  for (const orderId of ['first', 'second']) {
    await sell(shop, orderId)
    expect((await orders.capture({ orderId })).status).toBe('captured')
  }
  const rows = await rowsOf(shop)
  const read: typeof store.read = (work) =>
    store.read((tables) =>
      work({ ...tables, transactions: { find: async () => [] } }),
    )
  const restored = await openLedgerShop(chain, {
    account,
    store: { ...store, read },
  })
  for (const transfers of [false, true]) {
    const shown = await rowsOf(restored, { transfers })
    expect(shown.filter(({ type }) => type === 'gas')).toEqual(
      rows.filter(({ type }) => type === 'gas'),
    )
  }
  expect(await rowsOf(restored)).toEqual(rows)
  await orders.close()
})

test('all rows of one transaction have the same finality', async () => {
  const shop = await openLedgerShop(chain)
  await sell(shop, 'sold')
  await shop.orders.capture({ orderId: 'sold' })
  // The record says `included` until a worker looks at the chain again.
  await mine(chain.clients.test, { blocks: 20 })
  for (const [transfers, finality] of [
    [false, 'included'],
    [true, 'finalized'],
  ] as const) {
    const rows = await rowsOf(shop, { transfers })
    const ofSale = rows.filter(({ orderId }) => orderId === 'sold')
    expect(ofSale.map((row) => [row.type, row.finality])).toEqual([
      ['capture', finality],
      ['gas', finality],
    ])
  }
  await shop.orders.close()
})

test('a relayer’s gas is in the books of the recipient it sent for', async () => {
  const relayer = await fundedAccount(chain)
  const [first, second] = [
    (await fundedAccount(chain)).address.toLowerCase() as Address,
    (await fundedAccount(chain)).address.toLowerCase() as Address,
  ]
  const client = createReadClient({ chain: chain.chain, url: chain.urls.http })
  const store = memoryStore()
  const orders = createOrders({
    store,
    seal: 'none',
    tokens: [{ client, token: chain.token }],
    wallets: [
      createClient({ account: relayer, chain: chain.chain, transport: http() }),
    ],
    recipients: [first, second],
  })
  const shop = await openLedgerShop(chain)
  for (const recipient of [first, second]) {
    const orderId = `to ${recipient}`
    await sell({ ...shop, orders }, orderId, '12.50', {
      recipient,
      primaryType: 'TransferWithAuthorization',
    })
    expect((await orders.capture({ orderId })).status).toBe('captured')
  }
  for (const recipient of [first, second])
    for (const transfers of [false, true]) {
      const own = orders.within({ recipients: [recipient] })
      const rows = await rowsOf({ orders: own }, { transfers })
      const orderId = `to ${recipient}`
      expect(
        rows.filter(({ type }) => type !== 'opening' && type !== 'closing'),
      ).toMatchObject([
        { type: 'capture', recipient, orderId, gross: 12_500_000n },
        {
          type: 'gas',
          recipient,
          orderId,
          submitter: relayer.address.toLowerCase(),
        },
      ])
    }
  const all = await rowsOf({ orders })
  expect(all).toHaveLength(4)
  expect(await rowsOf({ orders: orders.within({ recipients: [] }) })).toEqual(
    [],
  )
  await orders.close()
})
