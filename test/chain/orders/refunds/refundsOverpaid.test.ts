import { capturePayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { OrderEvent } from 'countersign/orders'
import type { PrivateKeyAccount } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { draft, fundedAccount, mined } from '../../support/desk.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  price,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { putAttempt } from '../../support/watchRows.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

const primaryType = 'TransferWithAuthorization'

type PaidTwice = {
  shop: RefundShop
  id: string
  /** Paid first, which settled the order. */
  buyer: PrivateKeyAccount
  /** Paid the same order again. */
  second: PrivateKeyAccount
  overpaid: OrderEvent<'overpaid'>
}

/** An order with two attempts, both captured in final blocks. */
async function sellTwice(): Promise<PaidTwice> {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell({ primaryType })
  await shop.look()
  const second = await fundedAccount(chain, price)
  const payment = await draft(chain, {
    signer: second,
    to: shop.seller,
    primaryType,
  })
  await putAttempt(shop.context, id, payment)
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  await shop.look()
  await mine(chain.clients.test, { blocks: 3 })
  const { events } = await shop.orders.events({ limit: 100 })
  const [overpaid] = events.filter((event) => event.type === 'overpaid')
  if (!overpaid) throw new Error('not overpaid')
  return { shop, id, buyer, second, overpaid }
}

test('a refund of an order that was paid twice pays back the payment that settled it, and no more than that', async () => {
  const { shop, id, buyer, second } = await sellTwice()
  const { orders } = shop
  expect(await orders.get({ orderId: id })).toMatchObject({
    overpaid: true,
    refundable: price,
  })
  const more = { orderId: id, refundId: 'mine', amount: '12.500001' }
  expect(await orders.refund(more)).toMatchObject({
    ok: false,
    reason: 'exceedsCaptured',
  })
  const refund = await requestRefund(orders, id, 'mine')
  expect(refund).toMatchObject({
    value: price,
    to: buyer.address.toLowerCase(),
  })
  expect((await orders.get({ orderId: id })).refundable).toBe(0n)
  expect(await orders.refund({ orderId: id, refundId: 'again' })).toMatchObject(
    { ok: false, reason: 'exceedsCaptured' },
  )
  await carryToEnd(shop, id, 'mine')
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  expect(await balanceOf(chain, second.address)).toBe(0n)
  await orders.close()
})

test('the refundId of overpaid pays the second payment back to the account that paid it', async () => {
  const { shop, id, buyer, second, overpaid } = await sellTwice()
  const { refundId, refundTo } = overpaid.data
  expect(refundTo).toBe(second.address.toLowerCase())
  const refund = await requestRefund(shop.orders, id, refundId)
  expect(refund).toMatchObject({ value: price, to: refundTo })
  // It takes nothing from the payment that settled the order.
  expect((await shop.orders.get({ orderId: id })).refundable).toBe(price)
  await carryToEnd(shop, id, refundId)
  expect(await balanceOf(chain, second.address)).toBe(price)
  expect(await balanceOf(chain, buyer.address)).toBe(0n)
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    refunded: price,
    refundable: price,
  })
  await shop.orders.close()
})

test('the second payment is paid back in parts by ids that begin with its refundId', async () => {
  const { shop, id, buyer, second, overpaid } = await sellTwice()
  const { refundId } = overpaid.data
  const parts = [refundId, `${refundId}/b`, `${refundId}/rest`] as const
  await requestRefund(shop.orders, id, parts[0], '5')
  await requestRefund(shop.orders, id, parts[1], '4.5')
  expect(
    await shop.orders.refund({
      orderId: id,
      refundId: `${refundId}/much`,
      amount: '3.000001',
    }),
  ).toMatchObject({ ok: false, reason: 'exceedsCaptured' })
  expect(await requestRefund(shop.orders, id, parts[2])).toMatchObject({
    value: 3_000_000n,
  })
  await requestRefund(shop.orders, id, `${refundId}0`, '1')
  for (const part of [...parts, `${refundId}0`])
    await carryToEnd(shop, id, part)
  expect(await balanceOf(chain, second.address)).toBe(price)
  expect(await balanceOf(chain, buyer.address)).toBe(1_000_000n)
  await shop.orders.reconcile()
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
  await shop.orders.close()
})
