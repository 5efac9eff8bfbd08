import { mine } from 'viem/actions'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { spendCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import { type HardNode, startHardNode } from '../../support/hardTimes.js'
import { eventsOf } from '../../support/shop.js'
import {
  chargesOf,
  countUses,
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
/** Another chain, longer and far ahead in time. */
const other = await startSubscriptionChain()
await pass(other, 100n * period)
await mine(other.clients.test, { blocks: 500 })
afterAll(() => Promise.all([chain.stop(), other.stop()]))

const price = 10_000_000n

/** How many charges of a subscription are paid on record. */
const countPaid = async (shop: SubscriptionShop, id: string) =>
  (await chargesOf(shop, id)).filter(([, state]) => state === 'captured').length

/** Lets a node answer from the other chain, under the id of Base. */
function switchChain(node: HardNode): void {
  const own = (31337).toString(16).padStart(16, '0')
  const base = (8453).toString(16).padStart(16, '0')
  node.stand = async (asked) => {
    if (asked.method === 'eth_chainId') return '0x2105'
    const answer = await other.clients.public.request(asked as never)
    return asked.method === 'eth_call'
      ? String(answer).replaceAll(own, base)
      : answer
  }
}

/** Runs workers for some looks at the chain. */
const workFor = (shop: SubscriptionShop, node: HardNode, looks: number) => {
  const last = node.looks() + looks
  return shop.workUntil(async () => node.looks() > last, { mines: false })
}

test('a node that is on another chain for a while changes no subscription, and each period is charged once', async () => {
  const node = startHardNode(chain)
  const client = node.connect()
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe()
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  await pass(chain, period)
  const seen = async () => ({
    events: await eventsOf(shop, id),
    charges: await chargesOf(shop, id),
    row: await shop.store.read(({ subscriptions }) =>
      subscriptions.find({ ids: [id] }),
    ),
  })
  const before = await seen()
  switchChain(node)
  expect(await shop.subscriptions.chargeDue()).toEqual({ charged: 0 })
  await workFor(shop, node, 8)
  expect(await seen()).toEqual(before)
  node.stand = undefined
  await shop.workUntil(async () => (await countPaid(shop, id)) === 2)
  expect(await chargesOf(shop, id)).toEqual([
    ['period-1', 'captured', price],
    ['period-2', 'captured', price],
  ])
  expect(await countUses(chain, shop, id)).toBe(2)
})

test('a charge that was due before the node switched its chain is sent once it is back', async () => {
  const node = startHardNode(chain)
  const client = node.connect()
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe()
  expect(await shop.subscriptions.chargeDue()).toEqual({ charged: 1 })
  switchChain(node)
  await workFor(shop, node, 8)
  expect(await chargesOf(shop, id)).toEqual([['period-1', 'stored', price]])
  node.stand = undefined
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  expect(await countUses(chain, shop, id)).toBe(1)
})

test('a longer chain that a node shows for a while hides no charge that the record lacks', async () => {
  const node = startHardNode(chain)
  const client = node.connect()
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { subscriptions, account } = shop
  const { id } = await shop.subscribe({ allowance: '100' })
  const charge = { subscriptionId: id, chargeId: 'a', amount: '1' }
  await subscriptions.charge(charge)
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  const { permission } = await subscriptions.get({ subscriptionId: id })
  const call = spendCall(permission, { value: 1_000_000n, chargeId: 'b' })
  await send(chain, { account, ...call })
  switchChain(node)
  await workFor(shop, node, 8)
  await expect(subscriptions.reconcile()).rejects.toMatchObject({
    name: 'NodeAnswerError',
    retryable: true,
  })
  node.stand = undefined
  await shop.workUntil(async () => (await countPaid(shop, id)) === 2)
})

test('a wall clock that jumps an hour ahead and back changes no charge: the clock of the chain decides', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  let paid = 0
  for (const seconds of [0, 3600, -7200, 3600]) {
    vi.setSystemTime(Date.now() + seconds * 1000)
    expect(await countPaid(shop, id)).toBe(paid)
    await shop.workUntil(async () => (await countPaid(shop, id)) > paid)
    paid++
    // Nothing is due before the next period begins on the chain.
    expect(await shop.subscriptions.chargeDue()).toEqual({ charged: 0 })
    await pass(chain, period)
  }
  expect(await chargesOf(shop, id)).toEqual(
    [1, 2, 3, 4].map((number) => [`period-${number}`, 'captured', price]),
  )
  expect(await countUses(chain, shop, id)).toBe(4)
})
