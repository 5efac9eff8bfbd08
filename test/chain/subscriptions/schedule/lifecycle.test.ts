import { afterAll, expect, test } from 'vitest'
import { balanceOf } from '../../support/refundDesk.js'
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

const price = 10_000_000n

test('a signed permission is approved and charged once in each period, with proof', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe({ periods: 3 })
  const isPaid = (number: number) => async () => {
    const { charges } = await shop.subscriptions.charges({ subscriptionId: id })
    return charges.filter(({ capture }) => capture).length === number
  }
  await shop.workUntil(isPaid(1))
  expect(await balanceOf(chain, wallet.address)).toBe(9n * price)
  await pass(chain, period)
  await shop.workUntil(isPaid(2))
  await pass(chain, period)
  await shop.workUntil(isPaid(3))
  expect(await stateOf(shop, id)).toBe('active')
  expect(await balanceOf(chain, shop.seller)).toBe(3n * price)
  await pass(chain, period)
  await shop.workUntil(async () => (await stateOf(shop, id)) === 'ended')
  expect(await chargesOf(shop, id)).toEqual([
    ['period-1', 'captured', price],
    ['period-2', 'captured', price],
    ['period-3', 'captured', price],
  ])
  expect((await shop.orders.audit()).ok).toBe(true)
})
