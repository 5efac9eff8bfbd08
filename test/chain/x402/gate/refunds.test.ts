import { expect, test } from 'vitest'
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
} from '../../support/x402Desk.js'

test('a payment that arrived after its order was voided is refunded, and buys nothing', async () => {
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
