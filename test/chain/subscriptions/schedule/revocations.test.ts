import type { Observation } from 'countersign/orders'
import { type Client, createClient, custom } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { revokedTopic } from '../../../../src/subscriptions/charges/chargePayment.js'
import { revokeCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import { rpcError } from '../../support/desk.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const isIn = (shop: SubscriptionShop, id: string, state: string) => async () =>
  (await stateOf(shop, id)) === state

const hasCharges =
  (shop: SubscriptionShop, id: string, state: string, count = 1) =>
  async () =>
    (await chargesOf(shop, id)).filter((one) => one[1] === state).length >=
    count

async function revoke(shop: SubscriptionShop, id: string): Promise<void> {
  const { permission } = await shop.subscriptions.get({ subscriptionId: id })
  await send(chain, { account: shop.account, ...revokeCall(permission) })
}

/** A node that answers searches for revocations as `answer` does. */
function nodeWith(answer: () => Promise<unknown>): Client {
  const request = async (sent: { method: string; params?: unknown }) => {
    const isSearch =
      sent.method === 'eth_getLogs' &&
      JSON.stringify(sent.params).includes(revokedTopic)
    if (isSearch) await answer()
    return chain.clients.public.request(sent as never)
  }
  const transport = custom({ request }, { retryCount: 0 })
  return createClient({ chain: chain.chain, transport })
}

test('a charge of your own that is refused as revoked cancels the subscription', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe({ allowance: '10' })
  const charge = (chargeId: string) =>
    shop.subscriptions.charge({ subscriptionId: id, chargeId, amount: '4' })
  await charge('may')
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await revoke(shop, id)
  await charge('june')
  await shop.workUntil(isIn(shop, id, 'canceled'))
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    state: 'canceled',
    cancellation: { finality: expect.any(String) },
  })
  expect(await charge('july')).toEqual({ ok: false, reason: 'notOpen' })
})

test('a revocation is found although the first searches for it failed', async () => {
  let isDown = true
  let failures = 0
  const client = nodeWith(async () => {
    if (isDown) throw rpcError(-32601, 'the method is not available')
  })
  const observe = ({ name }: Observation) => {
    if (name === 'schedule.failed') failures++
  }
  const shop = await openSubscriptionShop(chain, {
    changes: { client, observe },
  })
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await revoke(shop, id)
  await pass(chain, period)
  for (const count of [1, 2]) {
    await shop.workUntil(async () => failures >= count)
    expect(await stateOf(shop, id)).toBe('unpaid')
    await pass(chain, 60n)
  }
  isDown = false
  await shop.workUntil(isIn(shop, id, 'canceled'))
})

test('a search for a revocation that never ends delays no other subscription', async () => {
  let searches = 0
  const client = nodeWith(() => {
    searches++
    return new Promise(() => undefined)
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe()
  const { id: other } = await shop.subscribe()
  for (const one of [id, other])
    await shop.workUntil(hasCharges(shop, one, 'captured'))
  await revoke(shop, id)
  await pass(chain, period)
  await shop.workUntil(async () => searches > 0)
  await shop.workUntil(hasCharges(shop, other, 'captured', 2))
  expect(await stateOf(shop, id)).toBe('unpaid')
  await pass(chain, period)
  await shop.workUntil(async () => {
    const isPaid = await hasCharges(shop, other, 'captured', 3)()
    return isPaid && searches > 1
  })
  expect(await stateOf(shop, id)).toBe('unpaid')
})
