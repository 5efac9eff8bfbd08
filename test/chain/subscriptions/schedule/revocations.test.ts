import { afterAll, expect, test } from 'vitest'
import { revokeCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import {
  chargesOf,
  openSubscriptionShop,
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
