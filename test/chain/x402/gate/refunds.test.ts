import { expect, test, vi } from 'vitest'
import {
  besideWorker,
  emptyAccount,
  openGatePayer,
  submitAlone,
} from '../../support/gatePayer.js'
import { eventsOf } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  requiredBy,
  settlementOf,
} from '../../support/x402Desk.js'

test('a payment that arrived after its order was voided raises refundDue, and buys nothing', async () => {
  const shop = await openGateShop()
  const payer = await openGatePayer(shop, 'work', async () => {
    await emptyAccount(payer.account)
    return new Response('goods')
  })
  expect((await payer.send()).status).toBe(402)
  const { id } = await payer.lastOrder()
  await chain.mint({ to: payer.account.address, value: price })
  await submitAlone(payer)
  await shop.orders.reconcile()
  expect(await eventsOf(shop, id)).toContain('refundDue')
  const again = await payer.send()
  expect(again.status).toBe(402)
  expect(requiredBy(again).error).toBe('invalid_transaction_state')
})

test('a payment that was paid back buys nothing any more', async () => {
  const shop = await openGateShop(
    {
      offers: {
        kept: { amount: '0.01', flow: 'upfront', afterFailure: 'keep' },
      },
    },
    { policy: { pollingInterval: 50 } },
  )
  let runs = 0
  const { send, account, lastOrder } = await openGatePayer(shop, 'kept', () => {
    runs++
    return new Response('no such city', { status: 404 })
  })
  expect((await send()).status).toBe(404)
  const { id } = await lastOrder()
  await besideWorker(shop, async () => {
    const verdict = await shop.orders.refund({ orderId: id, refundId: 'one' })
    expect(verdict.ok).toBe(true)
    await expect
      .poll(async () => {
        await chain.clients.test.mine({ blocks: 5 })
        return balanceOf(account.address)
      })
      .toBe(price)
  })
  const again = await send()
  expect(again.status).toBe(402)
  expect(requiredBy(again).error).toBe('invalid_transaction_state')
  expect(runs).toBe(1)
})

test('a payment that arrived during work that is given up raises refundDue', async () => {
  const shop = await openGateShop({
    offers: { tried: { amount: '0.01', afterFailure: 'giveUp' } },
  })
  const payer = await openGatePayer(shop, 'tried', async () => {
    await submitAlone(payer)
    await shop.orders.reconcile()
    throw new Error('failed')
  })
  const failed = await payer.send()
  const { id } = await payer.lastOrder()
  const types = await eventsOf(shop, id)
  expect(types.filter((type) => type === 'refundDue')).toHaveLength(1)
  expect(failed.status).toBe(500)
  expect(settlementOf(failed)).toMatchObject({ success: true })
  expect(settlementOf(await payer.send())).toEqual(settlementOf(failed))
})

test('work that is given up voids its order at once, so that a later payment is refunded', async () => {
  const shop = await openGateShop({
    offers: { tried: { amount: '0.01', afterFailure: 'giveUp' } },
  })
  const payer = await openGatePayer(shop, 'tried', () => {
    throw new Error('failed')
  })
  // The process ends after the record of the failure.
  vi.spyOn(shop.orders, 'void').mockRejectedValue(new Error('ended'))
  vi.spyOn(shop.orders, 'get').mockRejectedValue(new Error('ended'))
  expect((await payer.send()).status).toBe(503)
  expect(await payer.lastOrder()).toMatchObject({ state: 'voided' })
})
