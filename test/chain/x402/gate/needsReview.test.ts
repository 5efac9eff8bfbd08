import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { emptyAccount, openGatePayer } from '../../support/gatePayer.js'
import { pay, setOrder } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  type GateShop,
  openGateShop,
  price,
  requiredBy,
} from '../../support/x402Desk.js'

const shop = await openGateShop()

/** Someone of whom an order waits for the merchant, with funds to pay more. */
async function payerInReview({ orders }: GateShop) {
  const account = await fundedAccount(chain, 20_000_000n)
  const drafted = await orders.draft({ amount: '12.50' })
  const { id } = drafted.order
  const payment = await pay(account, drafted.payment)
  await orders.accept({ orderId: id, payment })
  await setOrder(shop, id, { needsReview: true })
  return account
}

test.each(['work', 'upfront'])(
  'while an order of the payer waits for review, a payment for %s is voided before the handler runs',
  async (offer) => {
    const account = await payerInReview(shop)
    let runs = 0
    const handler = () => {
      runs++
      return new Response('goods')
    }
    const { send, lastOrder } = await openGatePayer(
      shop,
      offer,
      handler,
      account,
    )
    const refused = await send()
    expect(refused.status).toBe(402)
    expect(requiredBy(refused).error).toBe(
      'invalid_exact_evm_transaction_simulation_failed',
    )
    expect((await lastOrder()).state).toBe('voided')
    expect((await send()).status).toBe(402)
    expect(runs).toBe(0)
    expect(await balanceOf(account.address)).toBe(20_000_000n)
  },
)

test('when a review begins during the work, the answer is held back and nothing is captured', async () => {
  const { send, account, lastOrder } = await openGatePayer(
    shop,
    'work',
    async (_, { orderId }) => {
      await setOrder(shop, orderId, { needsReview: true })
      return new Response('goods')
    },
  )
  const refused = await send()
  expect(refused.status).toBe(402)
  expect(await refused.text()).not.toContain('goods')
  expect((await lastOrder()).needsReview).toBe(true)
  expect(await balanceOf(account.address)).toBe(price)
})

test('work that failed is not done again while its order waits for review', async () => {
  let runs = 0
  const { send, account, lastOrder } = await openGatePayer(shop, 'work', () => {
    runs++
    return new Response('no such city', { status: 404 })
  })
  expect((await send()).status).toBe(404)
  const { id } = await lastOrder()
  await setOrder(shop, id, { needsReview: true, reason: 'needsReview' })
  expect((await send()).status).toBe(402)
  expect(runs).toBe(1)
  expect((await lastOrder()).needsReview).toBe(true)
  expect(await balanceOf(account.address)).toBe(price)
})

test('a payer does not end the review by asking for the answer again', async () => {
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
  // As after a capture that failed on chain.
  await setOrder(shop, id, {
    state: 'stored',
    needsReview: true,
    reason: 'needsReview',
  })
  await chain.mint({ to: account.address, value: price })
  expect((await send()).status).toBe(402)
  expect((await lastOrder()).needsReview).toBe(true)
  expect(await balanceOf(account.address)).toBe(price)
})
