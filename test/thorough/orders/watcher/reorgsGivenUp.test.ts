import { cancelPayment, capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { OrdersPolicy } from 'countersign/orders'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { revoke } from '../../../chain/support/desk.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  type Shop,
  storedOrder,
} from '../../../chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 50 })
const { public: reader, relayer, test: control } = chain.clients
afterAll(() => chain.stop())
afterEach(() => control.setAutomine(true))

/** A shop at work until the test ends. */
async function runShop(policy: OrdersPolicy = {}): Promise<Shop> {
  const shop = await openShop(chain, {
    policy: { pollingInterval: 40, ...policy },
  })
  const ends = new AbortController()
  const running = shop.orders.run({ signal: ends.signal })
  onTestFinished(async () => {
    ends.abort()
    await running
    await shop.orders.close()
  })
  return shop
}

/** Waits for so many transactions in the node's pool. */
const waiting = (count: number) =>
  expect
    .poll(async () => (await control.getTxpoolStatus()).pending, {
      timeout: 300_000,
    })
    .toBe(count)

const until = (work: () => Promise<unknown>) =>
  expect.poll(work, { timeout: 300_000 })

const stateOf = async ({ orders }: Shop, orderId: string) =>
  (await orders.get({ orderId })).state

/**
 * Mines a block, and waits until the shop has seen it. Otherwise the window of
 * a payment could end while a slow machine looks.
 */
async function mineSeen(shop: Shop): Promise<void> {
  await control.mine({ blocks: 1 })
  await seen(shop)
}

/** Waits until the shop has seen the newest block. */
async function seen({ orders }: Shop): Promise<void> {
  const newest = await reader.getBlockNumber({ cacheTime: 0 })
  const isSeen = async () => {
    const { destinations } = await orders.health()
    return destinations.every(({ reconciledTo = 0n }) => reconciledTo >= newest)
  }
  await until(isSeen).toBe(true)
}

/** Blocks in which what nobody should send would get in. */
async function mineSlowly(shop: Shop, id: string, blocks: number) {
  for (let at = 0; at < blocks; at++) {
    await control.mine({ blocks: 1 })
    await shop.orders.reconcile()
    await shop.orders.capture({ orderId: id, timeout: 100 })
  }
}

test('a void that a capture overtook counts again when a fork takes the capture back', async () => {
  const shop = await runShop()
  const { orders } = shop
  const { id } = await storedOrder(chain, shop)
  await control.setAutomine(false)
  const capturing = orders.capture({ orderId: id, timeout: 300_000 })
  await waiting(1)
  expect(await orders.void({ orderId: id })).toMatchObject({
    ok: false,
    order: { requested: 'void' },
  })
  await control.mine({ blocks: 1 })
  expect(await capturing).toMatchObject({
    status: 'captured',
    order: { requested: undefined, unexpected: false },
  })
  // It notices at once only that a block is gone which it has seen.
  await seen(shop)
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  await control.mine({ blocks: 1 })
  await until(() => stateOf(shop, id)).toBe('voided')

  // What comes next on the submitter leaves it alone, and is not held up by it.
  const next = await storedOrder(chain, shop)
  const after = orders.capture({ orderId: next.id, timeout: 300_000 })
  let isOver = false
  const mining = (async () => {
    while (!isOver) await mineSeen(shop)
  })()
  expect((await after).status).toBe('captured')
  isOver = true
  await mining
  expect(await stateOf(shop, id)).toBe('voided')
  expect(await eventsOf(shop, id)).toEqual([
    ...['drafted', 'accepted', 'captureRequested', 'capturing', 'captured'],
    'reorged',
  ])
})

test('the capture of an older attempt is not sent again to fill a gap of nonces', async () => {
  const shop = await runShop()
  const { orders } = shop
  const { id, buyer, signed } = await storedOrder(chain, shop)
  await chain.mint({ to: buyer.address, value: 50_000_000n })
  await control.setAutomine(false)
  const first = orders.capture({ orderId: id, timeout: 300_000 })
  await waiting(1)
  const cancellation = await revoke(chain, signed, buyer)
  const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 11n }
  await cancelPayment(relayer, { cancellation, ...fees })
  await waiting(2)
  await control.mine({ blocks: 1 })
  expect(await first).toMatchObject({ order: { state: 'canceled' } })

  const renewed = await orders.reauthorize({ orderId: id })
  if (!renewed.ok) throw new Error('not renewed')
  const payment = await pay(buyer, renewed.payment)
  expect((await orders.accept({ orderId: id, payment })).ok).toBe(true)
  const second = orders.capture({ orderId: id, timeout: 300_000 })
  await waiting(1)
  await control.mine({ blocks: 1 })
  expect((await second).status).toBe('captured')

  await chain.reorg({ depth: 2, transactions: 'dropped' })
  await control.mine({ blocks: 1 })
  await until(async () => (await eventsOf(shop, id)).at(-1)).toBe('reorged')
  const settles = async () => {
    await mineSeen(shop)
    return stateOf(shop, id)
  }
  await until(settles).toBe('captured')
  await mineSlowly(shop, id, 5)
  expect(await orders.get({ orderId: id })).toMatchObject({
    state: 'captured',
    attempt: 2,
    overpaid: false,
  })
  expect(await orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: 1 } }],
  })
})

test('a cancellation of ours that a fork takes back is sent again, and the new payment waits for it', async () => {
  const shop = await runShop({ relayCancellations: 'always' })
  const { orders } = shop
  const { id, buyer, signed } = await storedOrder(chain, shop, {
    primaryType: 'TransferWithAuthorization',
  })
  await chain.mint({ to: buyer.address, value: 50_000_000n })
  const cancellation = await revoke(chain, signed, buyer)
  expect(
    (await orders.acceptCancellation({ orderId: id, cancellation })).ok,
  ).toBe(true)
  await until(() => stateOf(shop, id)).toBe('canceled')
  const renewed = await orders.reauthorize({ orderId: id })
  if (!renewed.ok) throw new Error('not renewed')
  const payment = await pay(buyer, renewed.payment)
  expect((await orders.accept({ orderId: id, payment })).ok).toBe(true)

  const { blockNumber } = (await cancelBlock(shop, id)) ?? {}
  const depth = Number((await reader.getBlockNumber()) - (blockNumber ?? 0n))
  await control.setAutomine(false)
  await chain.reorg({ depth: depth + 1, transactions: 'dropped' })
  await control.mine({ blocks: 1 })
  await until(async () => (await eventsOf(shop, id)).at(-1)).toBe('reorged')
  await waiting(1)
  expect(await orders.capture({ orderId: id, timeout: 300_000 })).toMatchObject(
    {
      status: 'rejected',
      reason: 'otherPayment',
    },
  )
  await control.mine({ blocks: 1 })
  await until(async () => (await rowsOf(shop, id)).attempts[0]?.spendable).toBe(
    false,
  )
  const capturing = orders.capture({ orderId: id, timeout: 300_000 })
  await waiting(1)
  await control.mine({ blocks: 1 })
  expect((await capturing).status).toBe('captured')
  // What was signed first is worth nothing any more.
  await expect(capturePayment(relayer, { payment: signed })).rejects.toThrow()
  expect((await orders.audit({ toBlock: undefined })).ok).toBe(true)
})

/** The block in which the first attempt was canceled. */
async function cancelBlock({ store }: Shop, id: string) {
  const proofs = await store.read((tables) =>
    tables.proofs.find({ orderIds: [id] }),
  )
  return proofs.find(({ kind, removed }) => kind === 'cancel' && !removed)
}
