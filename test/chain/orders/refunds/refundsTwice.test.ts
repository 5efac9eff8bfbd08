import { capturePayment, type SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parsePayment, requireSignature } from '../../../../src/core/fields.js'
import {
  paymentOf,
  sealContextOf,
} from '../../../../src/orders/model/paymentOf.js'
import { openSealed } from '../../../../src/store/openSealed.js'
import { mined } from '../../support/desk.js'
import { copyOrders } from '../../support/refundCopies.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  policy,
  price,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { fileOf } from '../../support/watching.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

/** The signed payment of a refund, as a thief of it would have it. */
async function signedRefund(
  { context }: RefundShop,
  id: string,
  refundId: string,
): Promise<SignedPayment> {
  const { order, attempt } = await fileOf(context, `${id}\t${refundId}`)
  const place = sealContextOf('payment', order, attempt)
  const sealed = attempt.signature ?? ''
  const signature = await openSealed(context, sealed, place)
  if (!signature) throw new Error('not signed')
  const payment = paymentOf(context, order, attempt)
  return requireSignature(parsePayment({ ...payment, signature }))
}

test('two workers pay a refund once', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  const other = await openRefundShop(chain, {
    store: shop.store,
    account: shop.account,
  })
  await chain.mint({ to: shop.seller, value: price })
  await requestRefund(shop.orders, id, 'one', '5')
  await Promise.all([carryToEnd(shop, id, 'one'), carryToEnd(other, id, 'one')])
  expect(await balanceOf(chain, buyer.address)).toBe(5_000_000n)
  await Promise.all([shop.orders.close(), other.orders.close()])
})

test('concurrent requests never reserve more than was captured', async () => {
  const shop = await openRefundShop(chain)
  const { id } = await shop.sell()
  const verdicts = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((refundId) =>
      shop.orders.refund({ orderId: id, refundId, amount: '5' }),
    ),
  )
  expect(verdicts.filter(({ ok }) => ok)).toHaveLength(2)
  expect((await shop.orders.get({ orderId: id })).refundable).toBe(2_500_000n)
  await shop.orders.close()
})

test('a database restored from a backup adopts the refund that the chain shows', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await shop.look()
  const backup = memoryStore()
  await copyOrders(shop.store, backup, shop.context.destinations)
  await requestRefund(shop.orders, id, 'lost', '10')
  await carryToEnd(shop, id, 'lost')
  await shop.orders.close()
  await chain.mint({ to: shop.seller, value: 10n * price })

  const restored = await openRefundShop(chain, {
    store: backup,
    account: shop.account,
  })
  await requestRefund(restored.orders, id, 'again', '10')
  await restored.workUntil(async () => {
    const refund = { orderId: id, refundId: 'again' }
    return (await restored.orders.getRefund(refund)).state === 'failed'
  })
  expect(await restored.orders.get({ orderId: id })).toMatchObject({
    refunded: 10_000_000n,
    refundable: 2_500_000n,
    refunds: [
      { refundId: 'again', state: 'failed', failure: 'exceedsCaptured' },
      { state: 'succeeded', amount: '10' },
    ],
  })
  await requestRefund(restored.orders, id, 'rest')
  await carryToEnd(restored, id, 'rest')
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  await restored.orders.close()
})

test('of two databases that sign another amount, the token pays one, and both record it', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await shop.look()
  const copy = memoryStore()
  await copyOrders(shop.store, copy, shop.context.destinations)
  const other = await openRefundShop(chain, {
    store: copy,
    account: shop.account,
  })
  await chain.mint({ to: shop.seller, value: 10n * price })
  await requestRefund(shop.orders, id, 'one', '5')
  await requestRefund(other.orders, id, 'uno', '7')
  for (let looks = 0; looks < 4; looks++) {
    await shop.look()
    await other.look()
  }
  const five = await signedRefund(shop, id, 'one')
  const seven = await signedRefund(other, id, 'uno')
  expect(five.message.nonce).toBe(seven.message.nonce)
  await mined(chain, capturePayment(chain.clients.relayer, { payment: five }))
  await carryToEnd(shop, id, 'one')
  await other.workUntil(async () => {
    const { refunded, refunds } = await other.orders.get({ orderId: id })
    const uno = refunds.find(({ refundId }) => refundId === 'uno')
    return refunded === 5_000_000n && uno?.reserved === false
  })
  expect(await balanceOf(chain, buyer.address)).toBe(5_000_000n)
  expect(await other.orders.get({ orderId: id })).toMatchObject({
    refunded: 5_000_000n,
    refundable: 7_500_000n,
  })
  await requestRefund(other.orders, id, 'uno', '7')
  await carryToEnd(other, id, 'uno')
  expect(await balanceOf(chain, buyer.address)).toBe(12_000_000n)
  await Promise.all([shop.orders.close(), other.orders.close()])
})

test('a payer who submits an old refund himself gets no more than was captured', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await chain.mint({ to: shop.seller, value: 10n * price })
  await chain.block({ account: buyer.address })
  await requestRefund(shop.orders, id, 'one')
  const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
  await shop.workUntil(async () => (await get()).state === 'failed')
  expect(await get()).toMatchObject({ failure: 'payerBlocked', reserved: true })
  const old = await signedRefund(shop, id, 'one')
  expect(
    await shop.orders.refund({ orderId: id, refundId: 'two' }),
  ).toMatchObject({ ok: false, reason: 'exceedsCaptured' })
  await chain.block({ account: buyer.address, blocked: false })
  await mined(chain, capturePayment(chain.clients.relayer, { payment: old }))
  const done = await carryToEnd(shop, id, 'one')
  expect(done.state).toBe('succeeded')
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  await shop.orders.close()
})

test('a refund whose window is over is released once that is final, and signed again under the same nonce', async () => {
  const shop = await openRefundShop(chain, {
    changes: { policy: { ...policy, window: 40n } },
  })
  const { id, buyer } = await shop.sell()
  await chain.block({ account: buyer.address })
  await requestRefund(shop.orders, id, 'one')
  const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
  await shop.workUntil(async () => (await get()).state === 'failed')
  const { nonce } = await get()
  await chain.warp(60)
  await shop.workUntil(async () => {
    await chain.warp(5)
    return !(await get()).reserved
  })
  expect((await shop.orders.get({ orderId: id })).refundable).toBe(price)
  await chain.block({ account: buyer.address, blocked: false })
  await requestRefund(shop.orders, id, 'two', '3')
  const done = await carryToEnd(shop, id, 'two')
  expect(done.nonce).toBe(nonce)
  await requestRefund(shop.orders, id, 'one').catch((error: Error) =>
    expect(error.message).toBe('exceedsCaptured'),
  )
  expect(await balanceOf(chain, buyer.address)).toBe(3_000_000n)
  await shop.orders.close()
})
