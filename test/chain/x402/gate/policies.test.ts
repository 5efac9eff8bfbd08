import { afterEach, expect, test, vi } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  besideWorker,
  emptyAccount,
  openGatePayer,
} from '../../support/gatePayer.js'
import { rowsOf, storedOrder } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
} from '../../support/x402Desk.js'

afterEach(() => vi.restoreAllMocks())

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

test.each(['manual', 'onAccept', 'beforeDeadline'] as const)(
  'a payment whose capture is refused is voided before the 402, with the policy %s',
  async (capture) => {
    const shop = await openGateShop({}, { policy: { capture } })
    const { send, account, lastOrder } = await openGatePayer(
      shop,
      'work',
      async () => {
        await emptyAccount(account)
        return new Response('goods')
      },
    )
    expect((await send()).status).toBe(402)
    const { id } = await lastOrder()
    const { order } = await rowsOf(shop, id)
    expect([order.state, order.requested, order.sendDue]).toEqual([
      'voided',
      undefined,
      undefined,
    ])
    // The client may have paid again since.
    await chain.mint({ to: account.address, value: price })
    expect((await send()).status).toBe(402)
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test('while a refused capture is tried again, the answer is 503 and not 402', async () => {
  const shop = await openGateShop({}, { policy: { capture: 'onAccept' } })
  const { send, account, lastOrder } = await openGatePayer(
    shop,
    'work',
    async () => {
      await emptyAccount(account)
      return new Response('goods')
    },
  )
  // Another process captures it between the refusal and the end of the order:
  // the payer has been given money again.
  const { instance } = contextOf(shop.orders)
  const { perform } = instance
  vi.spyOn(instance, 'perform').mockImplementationOnce(async (...call) => {
    const refused = await perform(...call)
    await chain.mint({ to: account.address, value: price })
    const { id: orderId } = await lastOrder()
    await shop.orders.capture({ orderId })
    return refused
  })
  const answer = await send()
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { error: 'settlement_pending' },
  ])
  expect((await lastOrder()).state).toBe('captured')
})

test('when a capture would cost more than maxFee, the answer is 503 and the payment stays good', async () => {
  const shop = await openGateShop({}, { policy: { maxFee: 1n } })
  const { send, lastOrder } = await openGatePayer(
    shop,
    'work',
    () => new Response('goods'),
  )
  expect((await send()).status).toBe(503)
  expect(await lastOrder()).toMatchObject({
    state: 'stored',
    reason: 'feeTooHigh',
  })
})
