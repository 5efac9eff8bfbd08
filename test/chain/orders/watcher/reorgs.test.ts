import { setTimeout } from 'node:timers/promises'
import { cancelPayment, capturePayment } from 'countersign'
import { erc20Abi } from 'viem'
import { getBlockNumber, writeContract } from 'viem/actions'
import { expect, test } from 'vitest'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import {
  draft,
  fakeNode,
  mined,
  randomHash,
  revoke,
  rpcError,
} from '../../support/desk.js'
import { chain, policy } from '../../support/reorgChain.js'
import {
  destinationOf,
  mineBlocks,
  orderOf,
  recordOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

test('a node that lacks a receipt, or the newest blocks, takes nothing back', async () => {
  let fault: 'none' | 'receipts' | 'behind' = 'none'
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    if (fault === 'receipts' && method === 'eth_getTransactionReceipt')
      return null
    if (fault === 'behind' && method === 'eth_getBlockByNumber') {
      const block = await forward()
      const [asked] = params as [string]
      const behind = '0x1'
      if (asked === 'latest')
        return chain.clients.public.request({
          method,
          params: [behind, false],
        } as never)
      return BigInt(Object(block).number ?? 0) > 1n ? null : block
    }
    return forward()
  })
  const tokens = [{ client, token: chain.token }]
  const context = contextOf(chain, { tokens, policy })
  const payment = await draft(chain)
  await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  const before = await recordOf(context)
  expect(before.listed[0]?.state).toBe('captured')
  for (const one of ['receipts', 'behind'] as const) {
    fault = one
    await look()
    await mineBlocks(chain, 1)
    await look()
    const fresh = watcherOf(context)
    await fresh().catch(() => undefined)
    expect(await recordOf(context)).toEqual(before)
  }
})

test('a reorganization while nobody watched is noticed at the start', async () => {
  const context = contextOf(chain, { policy })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await watcherOf(context)()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await reconcile(context)
  await mineBlocks(chain, 30)
  await watcherOf(context)()
  await chain.reorg({ depth: 31, transactions: 'dropped' })
  await mineBlocks(chain, 1)
  await watcherOf(context)()
  expect((await orderOf(context, id)).state).toBe('stored')
  expect(await typesOf(context, id)).toEqual(['captured', 'fulfil', 'reorged'])
})

test('a reorganization 60 blocks deep is traced to where the chain forked', async () => {
  const context = contextOf(chain, { policy })
  const payment = await draft(chain)
  const look = watcherOf(context)
  const id = await putOrder(context, payment)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  for (let at = 0; at < 6; at++) {
    await look()
    await mineBlocks(chain, 10)
  }
  await look()
  await chain.reorg({ depth: 61, transactions: 'dropped' })
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment }),
  )
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    settledHash: hash,
  })
  expect((await auditOrders(context)).ok).toBe(true)
})

test('a cancellation and an alarm that are lost are taken back', async () => {
  const context = contextOf(chain)
  const look = watcherOf(context)
  await look()
  const canceled = await draft(chain)
  const spent = await draft(chain)
  const ids = [
    await putOrder(context, canceled),
    await putOrder(context, spent),
  ]
  const { merchant, relayer } = chain.clients
  const cancellation = await revoke(chain, canceled)
  await mined(chain, cancelPayment(relayer, { cancellation }))
  const { nonce } = spent.message
  const payment = await draft(chain, { amount: '1', nonce })
  await mined(chain, capturePayment(merchant, { payment }))
  const states = () =>
    Promise.all(ids.map(async (id) => (await orderOf(context, id)).state))
  await look()
  expect(await states()).toEqual(['canceled', 'consumed'])
  await chain.reorg({ depth: 2, transactions: 'dropped' })
  await mineBlocks(chain, 1)
  await look()
  expect(await states()).toEqual(['stored', 'stored'])
  await mined(chain, capturePayment(merchant, { payment: spent }))
  await mined(chain, cancelPayment(relayer, { cancellation }))
  await look()
  expect(await states()).toEqual(['canceled', 'captured'])
})

test('an alarm is taken back whose transaction was gone before anyone saw the fork', async () => {
  const context = contextOf(chain)
  const look = watcherOf(context)
  await look()
  const settledBlock = (await getBlockNumber(chain.clients.public)) + 1n
  const id = await putOrder(context, await draft(chain), {
    order: {
      state: 'consumed',
      finality: 'included',
      lookDue: undefined,
      settledHash: randomHash(),
      settledBlock,
    },
    attempt: { spendable: false },
  })
  await mineBlocks(chain, 60)
  await look()
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    state: 'stored',
    finality: undefined,
    settledHash: undefined,
  })
})

test('a payment without an order that was lost while nobody looked is taken back', async () => {
  const context = contextOf(chain)
  await watcherOf(context)()
  const payer = chain.clients.payer.account.address
  const blockNumber = (await getBlockNumber(chain.clients.public)) + 1n
  await context.store.write((tables) =>
    tables.proofs.insert([
      {
        ...destinationOf(context),
        transactionHash: randomHash(),
        logIndex: 0,
        kind: 'unmatched',
        orderId: undefined,
        attempt: undefined,
        blockNumber,
        blockHash: randomHash(),
        blockTime: 1n,
        payer,
        value: 3n,
        submitter: payer,
        gasUsed: 1n,
        effectiveGasPrice: 1n,
        removed: false,
      },
    ]),
  )
  // Its block is final by now, and another.
  await mineBlocks(chain, 210)
  await watcherOf(context)()
  expect(await auditOrders(context)).toMatchObject({
    ok: true,
    destinations: [{ unmatched: { count: 0 } }],
  })
})

test('a payment without an order is told once, wherever a fork puts it', async () => {
  const context = contextOf(chain)
  const look = watcherOf(context)
  await look()
  const { payer, merchant, test: control } = chain.clients
  const token = { address: chain.token, abi: erc20Abi }
  const args = [merchant.account.address, 7n] as const
  await control.setAutomine(false)
  // Its log is the second one of the block.
  await writeContract(payer, { ...token, functionName: 'approve', args })
  const sent = writeContract(payer, {
    ...token,
    functionName: 'transfer',
    args,
  })
  const hash = await sent
  await mineBlocks(chain, 1)
  await control.setAutomine(true)
  await look()
  await chain.reorg({ depth: 1 })
  await mined(chain, Promise.resolve(hash))
  await mineBlocks(chain, 1)
  await look()
  const proofs = await context.store.read((tables) =>
    tables.proofs.find({ hashes: [hash], chainId: 31337 }),
  )
  expect(proofs.map(({ logIndex, removed }) => [logIndex, removed])).toEqual([
    ...[
      [1, true],
      [0, false],
    ],
  ])
  const told = await typesOf(context)
  expect(told.filter((type) => type === 'unmatched')).toHaveLength(1)
  expect((await auditOrders(context)).ok).toBe(true)
})

test('numbers of blocks stand for the tags a node does not know', async () => {
  const { client } = fakeNode(chain, async ({ params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    if (block === 'safe' || block === 'finalized')
      throw rpcError(-39001, `${block} block not found`)
    return forward()
  })
  const tokens = [{ client, token: chain.token }]
  const blind = contextOf(chain, { tokens })
  const blocks = { safe: 2, finalized: 4 }
  const context = contextOf(chain, { tokens, policy: { blocks } })
  const payment = await draft(chain)
  const ids = [await putOrder(blind, payment), await putOrder(context, payment)]
  const looks = [watcherOf(blind), watcherOf(context)]
  const lookAll = async () => {
    for (const look of looks) await look()
  }
  await lookAll()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await mineBlocks(chain, 2)
  await lookAll()
  await lookAll()
  await mineBlocks(chain, 2)
  await lookAll()
  await lookAll()
  expect(await typesOf(blind, ids[0])).toEqual(['captured'])
  expect(await typesOf(context, ids[1])).toEqual([
    'captured',
    'finalityRaised',
    'fulfil',
    'finalityRaised',
  ])
})

test('a destination that someone else watches is left alone', async () => {
  const context = contextOf(chain)
  const twin = contextOf(chain, { store: context.store })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await watcherOf(context)()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  expect(await watcherOf(twin)()).toMatchObject({ nextLook: 7500 })
  expect((await orderOf(context, id)).state).toBe('stored')
})

test('a look that takes longer than its lease keeps it', async () => {
  let isSlow = false
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (isSlow && method === 'eth_getLogs') await setTimeout(1000)
    return forward()
  })
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
    policy: { lease: 300 },
  })
  const twin = contextOf(chain, {
    store: context.store,
    policy: { lease: 300 },
  })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  isSlow = true
  const looking = look()
  for (let at = 0; at < 8; at++) {
    await setTimeout(100)
    expect(await watcherOf(twin)()).toMatchObject({ nextLook: 150 })
  }
  await looking
  expect((await orderOf(context, id)).state).toBe('captured')
})
