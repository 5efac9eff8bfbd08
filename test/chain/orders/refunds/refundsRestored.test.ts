import type { DevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyOrders } from '../../support/refundCopies.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  price,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('a refund that waits in a backup, and that the lost database paid, is not paid again', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await shop.look()
  await chain.mint({ to: shop.seller, value: 10n * price })
  await requestRefund(shop.orders, id, 'one', '5')
  const backup = memoryStore()
  await copyOrders(shop.store, backup, shop.context.destinations, ['one'])
  await backup.write((tables) =>
    tables.setValue('store', { identity: 'the one before', suspended: false }),
  )
  await carryToEnd(shop, id, 'one')
  await shop.orders.close()

  const restored = await openRefundShop(chain, {
    store: backup,
    account: shop.account,
  })
  await restored.orders.reconcile()
  await restored.orders.resume()
  const one = await carryToEnd(restored, id, 'one')
  expect(one).toMatchObject({ state: 'succeeded', amount: '5' })
  // The same request again is the same refund, and another is another.
  await requestRefund(restored.orders, id, 'one', '5')
  await requestRefund(restored.orders, id, 'two', '5')
  await carryToEnd(restored, id, 'two')
  expect(await restored.orders.get({ orderId: id })).toMatchObject({
    refunded: 10_000_000n,
    refunds: [{ refundId: 'one' }, { refundId: 'two' }],
  })
  expect(await balanceOf(chain, buyer.address)).toBe(10_000_000n)
  expect(await restored.orders.audit()).toMatchObject({ ok: true })
  await restored.orders.close()
})
