import type { DevChain } from 'countersign/devchain'
import { getBlock } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  price,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { eventsOf, storedOrder } from '../../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('a refund pays all that is left back to the account that paid', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  const refund = await requestRefund(shop.orders, id, 'one')
  expect(refund).toMatchObject({
    state: 'requested',
    amount: '12.5',
    to: buyer.address.toLowerCase(),
    reserved: true,
    nonce: undefined,
  })
  const done = await carryToEnd(shop, id, 'one')
  expect(done).toMatchObject({ state: 'succeeded', value: price })
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  expect(await balanceOf(chain, shop.seller)).toBe(0n)
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    state: 'captured',
    refunded: price,
    refundable: 0n,
  })
  expect(await eventsOf(shop, id)).toEqual(
    expect.arrayContaining(['refundRequested', 'refunded']),
  )
  const again = await shop.orders.refund({ orderId: id, refundId: 'two' })
  expect(again).toMatchObject({ ok: false, reason: 'exceedsCaptured' })
  await shop.orders.close()
})

test('nothing is signed before the capture is final', async () => {
  const shop = await openRefundShop(chain)
  const { id } = await storedOrder(chain, shop)
  const captured = await shop.orders.capture({ orderId: id })
  if (captured.status !== 'captured') throw new Error(captured.status)
  await requestRefund(shop.orders, id, 'one')
  const { blockNumber } = captured.proof
  const seen: { isFinal: boolean; isSigned: boolean }[] = []
  for (let looks = 0; looks < 8; looks++) {
    await shop.look()
    const { public: client } = chain.clients
    const final = await getBlock(client, { blockTag: 'finalized' })
    const refund = await shop.orders.getRefund({ orderId: id, refundId: 'one' })
    seen.push({
      isFinal: final.number >= blockNumber,
      isSigned: refund.nonce !== undefined,
    })
  }
  expect(seen.filter(({ isFinal }) => !isFinal).length).toBeGreaterThan(0)
  expect(seen.some(({ isFinal, isSigned }) => isSigned && !isFinal)).toBe(false)
  expect(seen.at(-1)).toEqual({ isFinal: true, isSigned: true })
  await shop.orders.close()
})

test('partial refunds are paid one after the other, never more than captured', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await requestRefund(shop.orders, id, 'one', '5')
  await requestRefund(shop.orders, id, 'two', '4.5')
  const more = await shop.orders.refund({
    orderId: id,
    refundId: 'three',
    amount: '3.01',
  })
  expect(more).toMatchObject({ ok: false, reason: 'exceedsCaptured' })
  await requestRefund(shop.orders, id, 'three')
  for (const refundId of ['one', 'two', 'three'])
    await carryToEnd(shop, id, refundId)
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  const { refunds, refunded } = await shop.orders.get({ orderId: id })
  expect(refunded).toBe(price)
  expect(refunds.map(({ amount }) => amount)).toEqual(['5', '4.5', '3'])
  expect(new Set(refunds.map(({ nonce }) => nonce)).size).toBe(3)
  await shop.orders.close()
})

test('the same refundId is one refund, and another amount is refused', async () => {
  const shop = await openRefundShop(chain)
  const { id } = await shop.sell()
  await requestRefund(shop.orders, id, 'one', '5')
  const same = await requestRefund(shop.orders, id, 'one', '5')
  expect(same.amount).toBe('5')
  const other = { orderId: id, refundId: 'one', amount: '6' }
  expect(await shop.orders.refund(other)).toMatchObject({
    ok: false,
    reason: 'refundConflict',
  })
  expect((await shop.orders.get({ orderId: id })).refunds).toHaveLength(1)
  await shop.orders.close()
})

test('an order that is not captured cannot be refunded', async () => {
  const shop = await openRefundShop(chain)
  const { order } = await shop.orders.draft({ amount: '1' })
  expect(
    await shop.orders.refund({ orderId: order.id, refundId: 'one' }),
  ).toMatchObject({ ok: false, reason: 'notCaptured' })
  await shop.orders.close()
})
