import type { DevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
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

/** Makes a store one that was last opened as another database. */
async function markRestored(store: PaymentStore): Promise<void> {
  await store.write((tables) =>
    tables.setValue('store', { identity: 'the one before', suspended: false }),
  )
}

test('before resume a restored database signs no refund and adopts the one that the chain shows; afterwards it goes on', async () => {
  const signer = await fundedAccount(chain)
  let signed = 0
  const signTypedData: typeof signer.signTypedData = (typed) => {
    signed++
    return signer.signTypedData(typed)
  }
  const account = { ...signer, signTypedData }
  const shop = await openRefundShop(chain, { account })
  const [lost, other] = [await shop.sell(), await shop.sell()]
  await shop.look()
  const backup = memoryStore()
  await copyOrders(shop.store, backup, shop.context.destinations)
  await markRestored(backup)
  await requestRefund(shop.orders, lost.id, 'lost', '5')
  await carryToEnd(shop, lost.id, 'lost')
  await shop.orders.close()
  await chain.mint({ to: shop.seller, value: 10n * price })

  const restored = await openRefundShop(chain, { store: backup, account })
  await requestRefund(restored.orders, lost.id, 'again', '5')
  await requestRefund(restored.orders, other.id, 'one', '3')
  signed = 0
  let looks = 12
  await restored.workUntil(async () => {
    const { refunded } = await restored.orders.get({ orderId: lost.id })
    return looks-- <= 0 && refunded === 5_000_000n
  })
  expect((await restored.orders.health()).suspended).toBe(true)
  expect(signed).toBe(0)
  expect(await restored.orders.get({ orderId: lost.id })).toMatchObject({
    refunds: [
      { refundId: 'again', state: 'requested', nonce: undefined },
      { state: 'succeeded', amount: '5' },
    ],
  })
  expect(
    await restored.orders.refundToSign({ orderId: other.id, refundId: 'one' }),
  ).toMatchObject({ ok: false, reason: 'suspended' })
  expect(await balanceOf(chain, other.buyer.address)).toBe(0n)

  await restored.orders.resume()
  await carryToEnd(restored, lost.id, 'again')
  await carryToEnd(restored, other.id, 'one')
  expect(signed).toBe(2)
  expect(await balanceOf(chain, lost.buyer.address)).toBe(10_000_000n)
  expect(await balanceOf(chain, other.buyer.address)).toBe(3_000_000n)
  await restored.orders.close()
})
