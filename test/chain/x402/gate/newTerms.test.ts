import { createX402Gate, type X402Offer } from 'countersign/x402'
import { expect, test } from 'vitest'
import {
  balanceOf,
  countOrders,
  openGateShop,
  price,
  requiredBy,
  settlementOf,
} from '../../support/x402Desk.js'
import { payFor, resource } from '../../support/x402Paid.js'

const shop = await openGateShop()

/** Sends a payment to the gate as it is after a restart with this offer. */
async function sendTo(
  offer: X402Offer,
  header: string,
  { url = resource, answer = 'never' } = {},
): Promise<Response> {
  const { orders } = shop
  const gate = createX402Gate({ orders, offers: { work: offer } })
  return gate.answer(
    new Request(url, { headers: { 'PAYMENT-SIGNATURE': header } }),
    { offer: 'work', handler: () => new Response(answer) },
  )
}

test.each<[string, X402Offer]>([
  ['price', { amount: '0.02' }],
  ['window', { amount: '0.01', maxTimeoutSeconds: 200 }],
  ['flow', { amount: '0.01', flow: 'upfront' }],
])(
  'an answer that was paid is given again after a new %s',
  async (_, offer) => {
    const paid = await payFor(shop, 'work', () => new Response('goods'))
    const first = await paid.send()
    expect(first.status).toBe(200)
    const again = await sendTo(offer, paid.header)
    expect([again.status, await again.text()]).toEqual([200, 'goods'])
    expect(settlementOf(again)).toEqual(settlementOf(first))
  },
)

test('work that failed at the old price may be asked for again, at the old price', async () => {
  const paid = await payFor(shop, 'work', () => {
    throw new Error('failed')
  })
  expect((await paid.send()).status).toBe(500)
  const again = await sendTo({ amount: '0.02' }, paid.header, {
    answer: 'goods',
  })
  expect([again.status, await again.text()]).toEqual([200, 'goods'])
  expect(settlementOf(again)).toMatchObject({ amount: String(price) })
  expect(await balanceOf(paid.account.address)).toBe(0n)
})

test('a payment at the old price buys nothing new, and nothing else', async () => {
  const fresh = await payFor(shop, 'work', () => new Response('goods'))
  const before = await countOrders(shop.orders)
  const late = await sendTo({ amount: '0.02' }, fresh.header)
  expect(requiredBy(late).error).toBe('invalid_payment_requirements')
  expect(await countOrders(shop.orders)).toBe(before)
  expect((await fresh.send()).status).toBe(200)
  const other = await sendTo({ amount: '0.02' }, fresh.header, {
    url: `${resource}?more`,
  })
  expect(requiredBy(other).error).toBe('invalid_payment_requirements')
})
