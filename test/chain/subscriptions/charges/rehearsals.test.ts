import { type Client, createClient, custom } from 'viem'
import { getBlockNumber, mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { wait } from '../../../../src/core/wait.js'
import { usedTopic } from '../../../../src/subscriptions/charges/findUses.js'
import { spendCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import { storedOrder } from '../../support/shop.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const hasCharges =
  (shop: SubscriptionShop, id: string, state: string, count = 1) =>
  async () =>
    (await chargesOf(shop, id)).filter((one) => one[1] === state).length >=
    count

type Sent = { method: string; params?: unknown }

/** A client whose requests pass through `request`. */
const clientOf = (request: (sent: Sent) => Promise<unknown>): Client =>
  createClient({
    chain: chain.chain,
    transport: custom({ request }, { retryCount: 0 }),
  })

const forward = (sent: Sent): Promise<unknown> =>
  chain.clients.public.request(sent as never)

test('a replica that is still before a period is asked again, and the period is charged', async () => {
  let oldBlock: bigint | undefined
  let answers = 0
  const client = clientOf(async (sent) => {
    if (sent.method !== 'eth_call' || oldBlock === undefined)
      return forward(sent)
    const [call, , ...rest] = Object(sent.params)
    const number = `0x${oldBlock.toString(16)}`
    // Catches up after two looks at the charge.
    if (++answers === 2) oldBlock = undefined
    return forward({ ...sent, params: [call, number, ...rest] })
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  oldBlock = await getBlockNumber(chain.clients.public, { cacheTime: 0 })
  await pass(chain, period)
  await shop.workUntil(
    async () => answers >= 2 && (await chargesOf(shop, id)).length === 2,
  )
  await shop.workUntil(hasCharges(shop, id, 'captured', 2))
  const { events } = await shop.orders.events()
  expect(events.filter(({ type }) => type === 'subscriptionPastDue')).toEqual(
    [],
  )
})

/**
 * True for a search for the charges of one permission. The schedule itself reads
 * those of all permissions, and single blocks.
 */
const isSearch = ({ method, params }: Sent): boolean => {
  const [filter] = Object(params)
  const { topics: [topic, hash] = [], fromBlock, toBlock } = Object(filter)
  return (
    method === 'eth_getLogs' &&
    topic === usedTopic &&
    hash !== null &&
    fromBlock !== toBlock
  )
}

/** Charges a part of the allowance. */
const charge = (
  { subscriptions }: SubscriptionShop,
  subscriptionId: string,
  chargeId: string,
) => subscriptions.charge({ subscriptionId, chargeId, amount: '4' })

test('a second charge in a period searches for nothing if the record knows the first one', async () => {
  let searches = 0
  const client = clientOf((sent) => {
    if (isSearch(sent)) searches++
    return forward(sent)
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe({ allowance: '100' })
  await charge(shop, id, 'a')
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await charge(shop, id, 'b')
  await shop.workUntil(hasCharges(shop, id, 'captured', 2))
  expect(searches).toBe(0)
})

/** Runs orders without schedules, whose reconciliation searches too. */
async function sendUntil(
  { orders }: SubscriptionShop,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const stop = new AbortController()
  const ended = orders.run({ signal: stop.signal })
  try {
    for (let looks = 0; looks < 400; looks++) {
      if (await isDone()) return
      await mine(chain.clients.test, { blocks: 1 })
      await wait(50)
    }
    throw new Error('not done after 400 looks')
  } finally {
    stop.abort()
    await ended
  }
}

test('a charge whose search takes long holds up no capture, and is made when the search ends', async () => {
  let searches = 0
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const client = clientOf(async (sent) => {
    if (isSearch(sent)) {
      searches++
      await held
    }
    return forward(sent)
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe({ allowance: '100' })
  await charge(shop, id, 'a')
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  // The record does not know this one, and has to search.
  const { permission } = await shop.subscriptions.get({ subscriptionId: id })
  const foreign = spendCall(permission, { value: 5n, chargeId: 'foreign' })
  await send(chain, { account: shop.account, ...foreign })
  await charge(shop, id, 'b')
  await sendUntil(shop, async () => searches > 0)
  const { id: orderId } = await storedOrder(chain, shop)
  const capturing = shop.orders.capture({ orderId, timeout: 60_000 })
  await sendUntil(
    shop,
    async () => (await shop.orders.get({ orderId })).state === 'captured',
  )
  expect(await capturing).toMatchObject({ status: 'captured' })
  expect(await chargesOf(shop, id)).toMatchObject([
    ['a', 'captured', 4_000_000n],
    ['b', 'stored', 4_000_000n],
  ])
  letGo()
  await sendUntil(shop, hasCharges(shop, id, 'captured', 2))
})
