import { setTimeout as wait } from 'node:timers/promises'
import { startDevChain } from 'countersign/devchain'
import type { OrdersPolicy } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { Address, PrivateKeyAccount } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fundedAccount, newAccount } from '../../support/desk.js'
import { openShop, pay, rowsOf, type Shop } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const primaryType = 'TransferWithAuthorization'
const lower = ({ address }: { address: Address }) =>
  address.toLowerCase() as Address

const until = (work: () => Promise<unknown>) =>
  expect.poll(work, { timeout: 30_000 })

/** A drafted order, and what its buyer signed. */
async function sell(
  { orders }: Shop,
  draft: Partial<Parameters<Shop['orders']['draft']>[0]>,
) {
  const buyer = await fundedAccount(chain, 1_000_000n)
  const drafted = await orders.draft({ amount: '1', ...draft })
  const payment = await pay(buyer, drafted.payment)
  return { orderId: drafted.order.id, payment }
}

/** Two relayers at first, and one of them, later, over the same store. */
async function loseRelayer(policy: OrdersPolicy = {}) {
  const store = memoryStore()
  const recipient = newAccount().address
  const [kept, removed] = [
    await fundedAccount(chain),
    await fundedAccount(chain),
  ]
  const shared = { store, recipients: [recipient], policy }
  const before = await openShop(chain, {
    ...shared,
    sellers: [removed],
  })
  const after = await openShop(chain, {
    ...shared,
    sellers: [kept],
  })
  return { before, after, recipient, kept, removed, store }
}

const submitterOf = async (shop: Shop, orderId: string) =>
  (await rowsOf(shop, orderId)).order.submitter

test('a recipient that is a wallet pays the gas of its own payments, whatever their ids are', async () => {
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const relayers = sellers.map(({ address }) => address)
  const shop = await openShop(chain, { sellers, relayers })
  const submitters = new Set<string>()
  for (let at = 0; at < 12; at++) {
    const orderId = `ground ${at}`
    const recipient = shop.seller
    await shop.orders.draft({ orderId, amount: '1', recipient, primaryType })
    submitters.add(await submitterOf(shop, orderId))
  }
  expect([...submitters]).toEqual([shop.seller])
})

test('only relayers send for a recipient without a wallet', async () => {
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const relayer = sellers[1] as PrivateKeyAccount
  const recipient = newAccount().address
  const shop = await openShop(chain, {
    sellers,
    recipients: [recipient],
    relayers: [relayer.address],
  })
  for (let at = 0; at < 8; at++) {
    const orderId = `relayed ${at}`
    await shop.orders.draft({ orderId, amount: '1', recipient, primaryType })
    expect(await submitterOf(shop, orderId)).toBe(lower(relayer))
  }
})

test('an order whose wallet is removed is accepted and captured by another that may send it', async () => {
  const { before, after, recipient, kept } = await loseRelayer()
  const sold = await sell(before, { recipient, primaryType })
  expect(await after.orders.accept(sold)).toMatchObject({ ok: true })
  expect(await submitterOf(after, sold.orderId)).toBe(lower(kept))
  expect(await after.orders.capture({ orderId: sold.orderId })).toMatchObject({
    status: 'captured',
    proof: { submitter: lower(kept) },
  })
})

test('an accepted order whose wallet is removed is captured by another that may send it', async () => {
  const { before, after, recipient, kept } = await loseRelayer()
  const sold = await sell(before, { recipient, primaryType })
  expect(await before.orders.accept(sold)).toMatchObject({ ok: true })
  expect(await after.orders.capture({ orderId: sold.orderId })).toMatchObject({
    status: 'captured',
    proof: { submitter: lower(kept) },
  })
})

test('what is due on a removed wallet is captured by a worker that may send it, and named by health until then', async () => {
  const policy = { capture: 'onAccept', pollingInterval: 40 } as const
  const { before, after, recipient, removed } = await loseRelayer(policy)
  const sold = await sell(before, { recipient, primaryType })
  expect(await before.orders.accept(sold)).toMatchObject({ ok: true })
  const lost = { account: lower(removed), fault: expect.any(String) }
  expect((await after.orders.health()).submitters).toMatchObject([{}, lost])
  const ends = new AbortController()
  const running = after.orders.run({ signal: ends.signal })
  onTestFinished(async () => {
    ends.abort()
    await running
  })
  await until(
    async () => (await after.orders.get({ orderId: sold.orderId })).state,
  ).toBe('captured')
  expect((await after.orders.health()).submitters).toHaveLength(1)
})

test('in a suspended store, a worker takes over nothing of a removed wallet', async () => {
  const policy = { capture: 'onAccept', pollingInterval: 40 } as const
  const { before, after, recipient, removed } = await loseRelayer(policy)
  const sold = await sell(before, { recipient, primaryType })
  expect(await before.orders.accept(sold)).toMatchObject({ ok: true })
  await before.orders.suspend()
  const ends = new AbortController()
  const running = after.orders.run({ signal: ends.signal })
  await wait(400)
  ends.abort()
  await running
  const { order } = await rowsOf(after, sold.orderId)
  expect(order.submitter).toBe(lower(removed))
})

test('a Receive payment whose wallet is removed is refused as noWallet, and no try is counted', async () => {
  const store: PaymentStore = memoryStore()
  const [kept, removed] = [
    await fundedAccount(chain),
    await fundedAccount(chain),
  ]
  const before = await openShop(chain, { store, sellers: [removed] })
  const sold = await sell(before, {})
  const after = await openShop(chain, {
    store,
    sellers: [kept],
    recipients: [removed.address],
  })
  expect(await after.orders.accept(sold)).toMatchObject({
    ok: false,
    reason: 'noWallet',
    details: { submitter: lower(removed) },
  })
  expect((await rowsOf(after, sold.orderId)).order.tries).toBe(0)
})

test('health names a removed wallet that a capture waits for', async () => {
  const store: PaymentStore = memoryStore()
  const [kept, removed] = [
    await fundedAccount(chain),
    await fundedAccount(chain),
  ]
  const before = await openShop(chain, { store, sellers: [removed] })
  const sold = await sell(before, {})
  expect(await before.orders.accept(sold)).toMatchObject({ ok: true })
  const recipients = [removed.address]
  const after = await openShop(chain, { store, sellers: [kept], recipients })
  const { orderId } = sold
  const result = await after.orders.capture({ orderId, timeout: 100 })
  expect(result).toMatchObject({ status: 'unknown', resolvedBy: 'worker' })
  const submitters = async (orders: Pick<Shop['orders'], 'health'>) =>
    (await orders.health()).submitters.map(({ account }) => account)
  expect(await submitters(after.orders)).toEqual([lower(kept), lower(removed)])
  const own = after.orders.within({ recipients: [kept.address] })
  expect(await submitters(own)).toEqual([lower(kept)])
})
