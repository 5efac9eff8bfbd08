import { expect, test } from 'vitest'
import { besideWorker, openGatePayer } from '../../support/gatePayer.js'
import { storedOrder } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
} from '../../support/x402Desk.js'

test('a policy that captures near the deadline leaves payments alone whose work failed', async () => {
  const shop = await openGateShop(
    {},
    {
      policy: {
        capture: 'beforeDeadline',
        deadlineNear: 1_000n,
        pollingInterval: 50,
      },
    },
  )
  const { send, account, lastOrder } = await openGatePayer(
    shop,
    'work',
    () => new Response('no such city', { status: 404 }),
  )
  expect((await send()).status).toBe(404)
  // It is due later, so the worker has seen the failed one before.
  const { id } = await storedOrder(chain, shop)
  await besideWorker(shop, () =>
    expect
      .poll(async () => (await shop.orders.get({ orderId: id })).state)
      .toBe('captured'),
  )
  expect((await lastOrder()).state).toBe('stored')
  expect(await balanceOf(account.address)).toBe(price)
})
