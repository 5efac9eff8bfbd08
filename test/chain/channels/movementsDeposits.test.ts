import { memoryStore } from 'countersign/store'
import { getBlock, getBlockNumber } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { chain, view } from '../support/channelDesk.js'
import { fakeNode, fundedAccount } from '../support/desk.js'
import {
  channelOf,
  openMovementShop,
  recordOf,
  sendDeposit,
  signDeposit,
  stepsOf,
  storeDeposit,
  until,
  untilRefused,
  workUntil,
} from '../support/movementDesk.js'
import { moveTokens } from '../support/moveTokens.js'

afterAll(() => chain.stop())

const value = 10_000_000n
const { public: reader, test: node } = chain.clients
const at = ([proof]: readonly { blockNumber: bigint }[]) =>
  proof?.blockNumber ?? 0n

const heldBy = async ({ id }: { id: string }) =>
  ((await view('channels', [id])) as readonly bigint[])[0]

test('a deposit is sent and proven, and nobody takes it for an order', async () => {
  const shop = await openMovementShop()
  const channel = await channelOf(shop)
  const id = await storeDeposit(shop, channel, value)
  await until(shop, id, 'captured')
  expect(await heldBy(channel)).toBe(value)
  const { order, proofs } = await recordOf(shop, id)
  expect(order).toMatchObject({ role: 'movement', parentId: channel.id })
  expect(order.fulfilled).toBeUndefined()
  expect(proofs).toMatchObject([{ kind: 'capture', orderId: id, value }])
  expect(await stepsOf(shop, id)).toEqual(['requested', 'sent', 'captured'])
  const { events } = await shop.orders.events({ limit: 1_000 })
  expect(events.filter(({ orderId }) => orderId === id)).toEqual([])
  expect((await shop.orders.list()).orders).toEqual([])
  const [{ counts } = { counts: undefined }] = (await shop.orders.health())
    .destinations
  expect(counts).toEqual({})
})

test('the books and the audit leave a deposit out: the receiver got nothing', async () => {
  const shop = await openMovementShop()
  const id = await storeDeposit(shop, await channelOf(shop), value)
  await until(shop, id, 'captured')
  const rows = []
  for await (const row of shop.orders.ledger()) rows.push(row)
  expect(rows).toMatchObject([
    { type: 'gas', movementId: id, orderId: undefined, gross: 0n },
  ])
  const exact = []
  for await (const row of shop.orders.ledger({ transfers: true }))
    exact.push(row)
  expect(exact.map(({ type, balance }) => [type, balance])).toEqual([
    ['opening', 0n],
    ['gas', undefined],
    ['closing', 0n],
  ])
  const { destinations } = await shop.orders.audit()
  expect(destinations).toMatchObject([
    { differences: [], captured: { count: 0, value: 0n } },
  ])
})

test('a process that dies between record and send leaves one deposit', async () => {
  const store = memoryStore()
  const receiver = await fundedAccount(chain)
  const { client: wallet } = fakeNode(
    chain,
    async ({ method }, forward) => {
      // The process is dead from here on: nothing leaves it.
      if (method === 'eth_sendRawTransaction') throw new Error('timed out')
      return forward()
    },
    receiver,
  )
  const changes = { wallets: [wallet], client: wallet }
  const policy = { lease: 400 }
  const dying = await openMovementShop({ store, receiver, policy, changes })
  const channel = await channelOf(dying)
  const id = await storeDeposit(dying, channel, value)
  await workUntil(dying, async () => {
    const { sent } = await recordOf(dying, id)
    return sent.length > 0
  })
  const [recorded] = (await recordOf(dying, id)).sent
  expect(await heldBy(channel)).toBe(0n)
  const next = await openMovementShop({ store, receiver })
  await until(next, id, 'captured')
  expect(await heldBy(channel)).toBe(value)
  expect((await recordOf(next, id)).sent).toEqual([recorded])
})

test('a deposit that somebody else made is found', async () => {
  const shop = await openMovementShop()
  const channel = await channelOf(shop)
  const signed = await signDeposit(channel, value)
  await sendDeposit(channel, signed)
  const id = await storeDeposit(shop, channel, value, signed)
  await until(shop, id, 'captured')
  const { proofs, sent } = await recordOf(shop, id)
  expect(sent).toEqual([])
  expect(proofs).toMatchObject([{ value, payer: channel.config.payer }])
  expect(await heldBy(channel)).toBe(value)
})

test('a payer whose money is gone is told, and nothing is sent', async () => {
  const shop = await openMovementShop()
  const channel = await channelOf(shop)
  const id = await storeDeposit(shop, channel, value)
  await moveTokens(chain, channel.payer, 95_000_000n)
  await untilRefused(shop, id)
  expect(await recordOf(shop, id)).toMatchObject({
    order: { state: 'stored', reason: 'insufficientFunds' },
    sent: [],
  })
  expect(await stepsOf(shop, id)).toEqual(['requested', 'refused'])
})

test('a reorganization takes a deposit back, and it is made again', async () => {
  const shop = await openMovementShop()
  const channel = await channelOf(shop)
  const id = await storeDeposit(shop, channel, value)
  await until(shop, id, 'captured')
  const { proofs } = await recordOf(shop, id)
  const depth = Number((await getBlockNumber(reader)) + 1n - at(proofs))
  await chain.reorg({ depth, transactions: 'dropped' })
  expect(await heldBy(channel)).toBe(0n)
  await workUntil(shop, async () =>
    (await stepsOf(shop, id)).includes('reorged'),
  )
  await until(shop, id, 'captured')
  expect(await heldBy(channel)).toBe(value)
  expect(await stepsOf(shop, id)).toEqual([
    'requested',
    'sent',
    'captured',
    'reorged',
    'captured',
  ])
})

test('a deposit that no block takes is sent again with higher fees, and made once', async () => {
  const shop = await openMovementShop({ policy: { bumpAfter: 5 } })
  const channel = await channelOf(shop)
  await node.setAutomine(false)
  const id = await storeDeposit(shop, channel, value)
  const sentFor = async () => (await recordOf(shop, id)).sent
  let isDropped = false
  await workUntil(
    shop,
    async () => {
      const sent = await sentFor()
      if (sent.some(({ bump }) => bump > 0)) return true
      const { pending } = await node.getTxpoolStatus()
      if (!isDropped && pending === 1) {
        isDropped = true
        await node.request({ method: 'anvil_dropAllTransactions' } as never)
        const { baseFeePerGas } = await getBlock(reader)
        await node.setNextBlockBaseFeePerGas({
          baseFeePerGas: (baseFeePerGas ?? 1n) * 8n,
        })
      }
      if (isDropped) await chain.warp(6)
      return false
    },
    { mines: false },
  ).finally(() => node.setAutomine(true))
  await until(shop, id, 'captured')
  const nonces = (await sentFor()).map(({ nonce }) => nonce)
  expect(nonces.length).toBeGreaterThan(1)
  expect(new Set(nonces).size).toBe(1)
  expect(await heldBy(channel)).toBe(value)
})
