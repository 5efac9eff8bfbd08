import { afterAll, expect, test } from 'vitest'
import {
  openCeilingShop,
  startCeilingChain,
  storedCeiling,
} from '../../support/ceilingShop.js'
import { balanceOf } from '../../support/refundDesk.js'

const chain = await startCeilingChain()
afterAll(() => chain.stop())

test('an order with a ceiling is drafted, signed, captured for less, and proven with the amount', async () => {
  const shop = await openCeilingShop(chain)
  const { id, payer } = await storedCeiling(chain, shop)
  const stored = await shop.orders.get({ orderId: id })
  expect(stored).toMatchObject({
    state: 'stored',
    kind: 'checkout',
    atMost: '50.00',
    amount: '50.00',
  })

  const result = await shop.orders.capture({ orderId: id, amount: '42.10' })
  expect(result).toMatchObject({
    status: 'captured',
    order: { amount: '42.10', value: 42_100_000n, atMost: '50.00' },
  })
  expect(await balanceOf(chain, shop.seller)).toBe(42_100_000n)
  expect(await balanceOf(chain, payer.address)).toBe(57_900_000n)
  expect(await shop.orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: 1, value: 42_100_000n } }],
  })
  await shop.orders.close()
})
