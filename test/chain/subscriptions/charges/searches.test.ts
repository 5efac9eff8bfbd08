import { type Client, createClient, custom } from 'viem'
import { getBlock } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { wait } from '../../../../src/core/wait.js'
import { usedTopic } from '../../../../src/subscriptions/charges/findUses.js'
import { chargeOrderId } from '../../../../src/subscriptions/schedule/chargeIds.js'
import { storedOrder } from '../../support/shop.js'
import {
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

type Sent = { method: string; params?: unknown }

/** A client on which no block becomes final, and that reports each search. */
const clientOf = (onSearch: () => Promise<void>): Client => {
  const request = async (sent: Sent) => {
    const [first] = Object(sent.params)
    const { topics: [topic, hash] = [] } = Object(first)
    if (sent.method === 'eth_getLogs' && topic === usedTopic && hash !== null)
      await onSearch()
    // On Base it takes 15 minutes or more.
    const isFinality = first === 'safe' || first === 'finalized'
    const asked = isFinality ? { ...sent, params: ['0x1', false] } : sent
    return chain.clients.public.request(asked as never)
  }
  const transport = custom({ request }, { retryCount: 0 })
  return createClient({ chain: chain.chain, transport })
}

/** Subscribes, and has a charge refused because another one used the allowance. */
async function refuseCharge(shop: SubscriptionShop): Promise<string> {
  const { id } = await shop.subscribe({ allowance: '10' })
  const charge = (chargeId: string) =>
    shop.subscriptions.charge({
      subscriptionId: id,
      chargeId,
      amount: '10',
    })
  await charge('a')
  const [paid, refused] = ['a', 'b'].map((one) => chargeOrderId(id, one))
  const order = (orderId = '') => shop.orders.get({ orderId })
  await runUntil(shop, async () => (await order(paid)).state === 'captured')
  await charge('b')
  await runUntil(
    shop,
    async () => (await order(refused)).reason === 'allowanceUsed',
  )
  return refused ?? ''
}

/** Runs the orders without schedules, whose reconciliation searches too. */
async function runUntil(
  { orders }: SubscriptionShop,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const stop = new AbortController()
  const ended = orders.run({ signal: stop.signal })
  try {
    for (let looks = 0; looks < 400; looks++) {
      if (await isDone()) return
      await wait(25)
    }
    throw new Error('not done after 400 looks')
  } finally {
    stop.abort()
    await ended
  }
}

/** True when the next look at an order is later than the newest block. */
const isLooked = (shop: SubscriptionShop, id: string) => async () => {
  const { timestamp } = await getBlock(chain.clients.public)
  const [order] = await shop.store.read(({ orders }) =>
    orders.find({ ids: [id] }),
  )
  return order?.lookDue !== undefined && order.lookDue > timestamp
}

test('a refused charge is searched once when its period is over, and not again before a block after it is final', async () => {
  let searches = 0
  const client = clientOf(async () => {
    searches++
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const orderId = await refuseCharge(shop)
  searches = 0
  await pass(chain, period)
  for (let look = 0; look < 5; look++) {
    await runUntil(shop, isLooked(shop, orderId))
    await pass(chain, 16n)
  }
  expect(searches).toBe(1)
  expect((await shop.orders.get({ orderId })).state).toBe('expired')
})

test('a search for one charge that takes long holds up no other order of the destination', async () => {
  let isHeld = false
  let searches = 0
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const client = clientOf(async () => {
    searches++
    if (isHeld) await held
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const orderId = await refuseCharge(shop)
  const other = await storedOrder(chain, shop, { window: period + 100n })
  const isExpired = (id: string) => async () =>
    (await shop.orders.get({ orderId: id })).state === 'expired'
  isHeld = true
  searches = 0
  await pass(chain, period)
  await runUntil(shop, async () => searches > 0)
  await pass(chain, 200n)
  await runUntil(shop, isExpired(other.id))
  expect(await isExpired(orderId)()).toBe(false)
  letGo()
  await pass(chain, 16n)
  await runUntil(shop, isExpired(orderId))
})
