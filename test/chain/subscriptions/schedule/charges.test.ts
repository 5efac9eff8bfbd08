import { memoryStore, type PaymentStore } from 'countersign/store'
import { createClient, custom } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { usedTopic } from '../../../../src/subscriptions/charges/findUses.js'
import {
  revokeCall,
  spendCall,
} from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import { balanceOf } from '../../support/refundDesk.js'
import {
  chargesOf,
  countUses,
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const price = 10_000_000n

const eventsOf = async ({ orders }: SubscriptionShop, wanted: string) =>
  (await orders.events()).events.filter(({ type }) => type === wanted)

const isIn = (shop: SubscriptionShop, id: string, state: string) => async () =>
  (await stateOf(shop, id)) === state

const hasCharges =
  (shop: SubscriptionShop, id: string, state: string, count = 1) =>
  async () =>
    (await chargesOf(shop, id)).filter((one) => one[1] === state).length >=
    count

test('two workers at the edge of a period charge it once', async () => {
  const shop = await openSubscriptionShop(chain)
  const { store, account } = shop
  const other = await openSubscriptionShop(chain, { store, account })
  // The chain itself would allow ten charges in a period.
  const terms = { amount: '10', allowance: '100' }
  const { id, wallet } = await shop.subscribe(terms)
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await pass(chain, period)
  await Promise.all([
    shop.workUntil(hasCharges(shop, id, 'captured', 2)),
    other.workUntil(hasCharges(other, id, 'captured', 2)),
  ])
  await Promise.all(
    [shop, other, shop, other].map((one) => one.subscriptions.chargeDue()),
  )
  expect(await chargesOf(shop, id)).toEqual([
    ['period-1', 'captured', price],
    ['period-2', 'captured', price],
  ])
  expect(await countUses(chain, shop, id)).toBe(2)
  expect(await balanceOf(chain, wallet.address)).toBe(8n * price)
})

test('the same charge again is the same charge, and with another amount a conflict', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe({ allowance: '10' })
  const charge = (amount: string) =>
    shop.subscriptions.charge({ subscriptionId: id, chargeId: 'may', amount })
  const both = await Promise.all([charge('4'), charge('4')])
  expect(both.map(({ ok }) => ok)).toEqual([true, true])
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  expect(await charge('4')).toMatchObject({
    ok: true,
    order: { state: 'captured' },
  })
  expect(await charge('5')).toEqual({ ok: false, reason: 'chargeConflict' })
  expect(await balanceOf(chain, wallet.address)).toBe(96_000_000n)
})

test('a charge of an unsigned subscription, or above the allowance, is refused', async () => {
  const { subscriptions, subscribe } = await openSubscriptionShop(chain)
  const { id } = await subscribe({ allowance: '10' })
  const given = { subscriptionId: id, chargeId: 'much', amount: '10.000001' }
  expect(await subscriptions.charge(given)).toEqual({
    ok: false,
    reason: 'exceedsAllowance',
  })
  const { account } = (await subscriptions.get({ subscriptionId: id }))
    .permission.message
  const drafted = await subscriptions.draft({ account, amount: '1', period })
  const subscriptionId = drafted.subscription.id
  expect(await subscriptions.charge({ subscriptionId, chargeId: 'a' })).toEqual(
    { ok: false, reason: 'notOpen' },
  )
})

test('without funds a charge is tried again, given up with an event, and resumed by the merchant', async () => {
  const policy = { retries: 1, retryAfter: 50n }
  const shop = await openSubscriptionShop(chain, { policy })
  const { id, wallet } = await shop.subscribe({ funds: price })
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await pass(chain, period)
  await shop.workUntil(isIn(shop, id, 'pastDue'))
  await shop.workUntil(
    async () => (await eventsOf(shop, 'captureRejected')).length >= 1,
  )
  await pass(chain, 60n)
  await shop.workUntil(isIn(shop, id, 'unpaid'))
  const data = { period: '2', reason: 'insufficientFunds' }
  expect(await eventsOf(shop, 'subscriptionPastDue')).toMatchObject([
    { orderId: id, data },
  ])
  expect(await eventsOf(shop, 'subscriptionUnpaid')).toMatchObject([
    { orderId: id, data },
  ])
  await pass(chain, period)
  expect(await shop.subscriptions.chargeDue()).toEqual({ charged: 0 })
  await chain.mint({ to: wallet.address, value: price })
  await shop.subscriptions.restart({ subscriptionId: id })
  await shop.workUntil(isIn(shop, id, 'active'))
  expect((await chargesOf(shop, id)).at(-1)).toEqual([
    'period-3',
    'captured',
    price,
  ])
})

test('a resumed subscription is charged at once for the period that was not paid', async () => {
  const shop = await openSubscriptionShop(chain, { policy: { retries: 0 } })
  const { id, wallet } = await shop.subscribe({ funds: price })
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await pass(chain, period)
  await shop.workUntil(isIn(shop, id, 'unpaid'))
  await chain.mint({ to: wallet.address, value: price })
  await shop.subscriptions.restart({ subscriptionId: id })
  await shop.workUntil(isIn(shop, id, 'active'))
  expect((await chargesOf(shop, id)).at(-1)).toEqual([
    'period-2',
    'captured',
    price,
  ])
})

test('a canceled subscription is revoked on chain, final by its event, and charged no more', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  const verdict = await shop.subscriptions.cancel({ subscriptionId: id })
  expect(verdict).toMatchObject({
    ok: true,
    subscription: { state: 'canceling' },
  })
  await shop.workUntil(
    async () =>
      (await shop.orders.get({ orderId: id })).cancellation?.finality ===
      'finalized',
  )
  expect(await stateOf(shop, id)).toBe('canceled')
  await pass(chain, period)
  expect(await shop.subscriptions.chargeDue()).toEqual({ charged: 0 })
  expect(await balanceOf(chain, wallet.address)).toBe(9n * price)
})

test('a charge that you requested and nobody sent is voided by the cancellation', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe({ allowance: '10' })
  const before = await balanceOf(chain, wallet.address)
  const charge = { subscriptionId: id, chargeId: 'own', amount: '10' }
  await shop.subscriptions.charge(charge)
  await shop.subscriptions.cancel({ subscriptionId: id })
  expect(await shop.subscriptions.charge(charge)).toMatchObject({
    order: { state: 'voided', requested: undefined },
  })
  await shop.workUntil(isIn(shop, id, 'canceled'))
  expect(await chargesOf(shop, id)).toEqual([['own', 'voided', price]])
  expect(await balanceOf(chain, wallet.address)).toBe(before)
})

test('a revocation that the schedule did not send leaves nothing charged, and cancels the subscription by its event', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  const { permission } = await shop.subscriptions.get({ subscriptionId: id })
  await send(chain, { account: shop.account, ...revokeCall(permission) })
  await pass(chain, period)
  await shop.workUntil(isIn(shop, id, 'canceled'))
  expect(await balanceOf(chain, wallet.address)).toBe(9n * price)
})

/** Copies subscriptions without their charges, as an old backup would have. */
async function restore(shop: SubscriptionShop): Promise<PaymentStore> {
  const store = memoryStore()
  await store.open()
  const rows = await shop.store.read(async (tables) => {
    const { destinations: listed } = shop.context
    const subscriptions = await tables.subscriptions.find({ listed, limit: 9 })
    const ids = subscriptions.map((row) => row.id)
    return {
      subscriptions,
      orders: await tables.orders.find({ ids }),
      attempts: await tables.attempts.find({ orderIds: ids }),
    }
  })
  await store.write(async (tables) => {
    await tables.subscriptions.insert(rows.subscriptions)
    await tables.orders.insert(rows.orders)
    await tables.attempts.insert(rows.attempts)
  })
  return store
}

test('after a lost record, the same charge is found on the chain by its mark and not made again', async () => {
  const before = await openSubscriptionShop(chain)
  const { id, wallet } = await before.subscribe({ allowance: '10' })
  const given = { subscriptionId: id, chargeId: 'may', amount: '4' }
  const store = await restore(before)
  const { account } = before
  await before.subscriptions.charge(given)
  await before.workUntil(hasCharges(before, id, 'captured'))
  const shop = await openSubscriptionShop(chain, { store, account })
  expect((await shop.subscriptions.charge(given)).ok).toBe(true)
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  const other = await openSubscriptionShop(chain, {
    store: await restore(before),
    account,
  })
  const found = await other.subscriptions.reconcile()
  expect(found).toEqual({ settled: 0, adopted: 1 })
  expect(await other.subscriptions.charge(given)).toMatchObject({
    ok: true,
    order: { state: 'captured' },
  })
  expect(await balanceOf(chain, wallet.address)).toBe(96_000_000n)
})

test('a node that never answers about old charges delays no new one, and a proven charge is not looked up again', async () => {
  const asked: string[] = []
  let isSilent = true
  const request = async (sent: { method: string; params?: unknown }) => {
    asked.push(sent.method)
    const isOld = JSON.stringify(sent.params ?? '').includes(
      `"topics":["${usedTopic}",null`,
    )
    if (isSilent && isOld) await new Promise(() => undefined)
    return chain.clients.public.request(sent as never)
  }
  const transport = custom({ request })
  const client = createClient({ chain: chain.chain, transport })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  isSilent = false
  asked.length = 0
  await shop.subscriptions.reconcile()
  expect(asked).toContain('eth_getLogs')
  expect(asked).not.toContain('eth_getTransactionByHash')
})

test('a charge that someone else made with the same key uses the allowance, and the schedule goes on', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await pass(chain, period)
  const { permission } = await shop.subscriptions.get({ subscriptionId: id })
  const call = spendCall(permission, { value: price, chargeId: 'foreign' })
  await send(chain, { account: shop.account, ...call })
  await shop.workUntil(isIn(shop, id, 'pastDue'))
  await shop.workUntil(
    async () => (await eventsOf(shop, 'subscriptionPastDue')).length === 1,
  )
  expect(await eventsOf(shop, 'subscriptionPastDue')).toMatchObject([
    { data: { period: '2', reason: 'allowanceUsed' } },
  ])
  await pass(chain, period)
  await shop.workUntil(isIn(shop, id, 'active'))
})

test('a wallet that is not deployed is deployed by its first charge', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe({ deployed: false })
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  expect(await stateOf(shop, id)).toBe('active')
})
