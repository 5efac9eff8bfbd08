import { expect, test } from 'vitest'
import {
  emptyAccount,
  openGatePayer,
  submitAlone,
} from '../../support/gatePayer.js'
import { eventsOf } from '../../support/shop.js'
import {
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
