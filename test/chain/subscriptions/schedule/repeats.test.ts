import { afterAll, expect, test } from 'vitest'
import { revokeCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

async function openWithCharges() {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe({ allowance: '10' })
  const charge = (chargeId: string) =>
    shop.subscriptions.charge({ subscriptionId: id, chargeId, amount: '4' })
  const isIn = (chargeId: string, state: string) => async () =>
    (await chargesOf(shop, id)).some(
      (one) => one[0] === chargeId && one[1] === state,
    )
  return { shop, id, charge, isIn }
}

test('a charge that expired is refused as expired, and a new id charges again', async () => {
  const { shop, charge, isIn } = await openWithCharges()
  expect((await charge('may')).ok).toBe(true)
  await pass(chain, period)
  await shop.workUntil(isIn('may', 'expired'))
  expect(await charge('may')).toMatchObject({
    ok: false,
    reason: 'expired',
    order: { state: 'expired' },
  })
  expect((await charge('may-again')).ok).toBe(true)
  await shop.workUntil(isIn('may-again', 'captured'))
})

test('a charge that was voided is refused as voided, and a new id charges again', async () => {
  const { shop, id, charge, isIn } = await openWithCharges()
  await charge('may')
  await shop.orders.void({ orderId: `${id}/may` })
  expect(await charge('may')).toMatchObject({
    ok: false,
    reason: 'voided',
    order: { state: 'voided' },
  })
  await charge('may-again')
  await shop.workUntil(isIn('may-again', 'captured'))
})

test('a charge that was refused before the subscription was canceled is refused as not open', async () => {
  const { shop, id, charge, isIn } = await openWithCharges()
  await charge('may')
  await shop.workUntil(isIn('may', 'captured'))
  const { permission } = await shop.subscriptions.get({ subscriptionId: id })
  await send(chain, { account: shop.account, ...revokeCall(permission) })
  await charge('june')
  await shop.workUntil(async () => (await stateOf(shop, id)) === 'canceled')
  expect(await charge('june')).toMatchObject({
    ok: false,
    reason: 'notOpen',
    order: { state: 'stored', reason: 'revoked' },
  })
  expect(await charge('may')).toMatchObject({
    ok: true,
    order: { state: 'captured' },
  })
})
