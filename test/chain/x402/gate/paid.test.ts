import { createX402Gate, type X402Payment } from 'countersign/x402'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { eventsOf } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  openGateShop,
  payingFetch,
  requiredBy,
  serveApp,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const shop = await openGateShop()
const runs: X402Payment[] = []
const sell = (offer: string) =>
  shop.gate.protect(offer, async (request, payment) => {
    runs.push(payment)
    return Response.json({ by: payment.payer, body: await request.text() })
  })
const url = await serveApp((request) =>
  sell(new URL(request.url).pathname.slice(1))(request),
)

test('without a payment, the answer is 402 and says what it costs', async () => {
  const response = await fetch(`${url}/work?city=Ulm`)
  expect(response.status).toBe(402)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(requiredBy(response)).toMatchObject({
    x402Version: 2,
    resource: { url: `${url}/work?city=Ulm`, description: 'Some work' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:31337',
        amount: '10000',
        maxTimeoutSeconds: 300,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  })
  expect(runs).toHaveLength(0)
})

test.each(['work', 'upfront'])(
  'a stock client pays for %s, and gets the answer with its receipt',
  async (offer) => {
    const { account, fetch } = await payingFetch()
    const before = await balanceOf(shop.recipient)
    const response = await fetch(`${url}/${offer}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    const payer = account.address.toLowerCase()
    expect(await response.json()).toEqual({ by: payer, body: '' })
    const settled = settlementOf(response)
    expect(settled).toMatchObject({ success: true, payer, amount: '10000' })
    expect((await balanceOf(shop.recipient)) - before).toBe(10_000n)
    const { orderId, transaction } = runs.at(-1) ?? {}
    const order = await shop.orders.get({ orderId: orderId ?? '' })
    expect(order.capture?.transactionHash).toBe(settled.transaction)
    expect(transaction).toBe(
      offer === 'upfront' ? settled.transaction : undefined,
    )
    expect(await eventsOf(shop, order.id)).toContain('captured')
  },
)

test('a handler reads the body that was paid for', async () => {
  const { fetch } = await payingFetch()
  const response = await fetch(`${url}/work`, { method: 'POST', body: 'ask' })
  expect(await response.json()).toMatchObject({ body: 'ask' })
})

test.each(['work', 'upfront'])(
  'one payment for %s, sent four times to two resources, is worked for once',
  async (offer) => {
    const account = await fundedAccount(chain, 100_000n)
    const before = runs.length
    const asked = await fetch(`${url}/${offer}?one`)
    const header = await signFor(account, asked)
    const send = (query: string) =>
      fetch(`${url}/${offer}?${query}`, {
        headers: { 'PAYMENT-SIGNATURE': header },
      })
    const responses = [
      await send('one'),
      ...(await Promise.all([send('two'), send('one')])),
      await send('two'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 402, 200, 402])
    const [first, , third, fourth] = responses
    if (!first || !third || !fourth) throw new Error('no answers')
    expect(await third.text()).toBe(await first.text())
    expect(settlementOf(third)).toEqual(settlementOf(first))
    expect(requiredBy(fourth).error).toBe(
      'invalid_exact_evm_nonce_already_used',
    )
    expect(runs.length - before).toBe(1)
    expect(await balanceOf(account.address)).toBe(90_000n)
  },
)

test('the same payment sent at once many times is worked for once', async () => {
  const account = await fundedAccount(chain, 100_000n)
  const before = runs.length
  const header = await signFor(account, await fetch(`${url}/work`))
  const responses = await Promise.all(
    Array.from({ length: 8 }, () =>
      fetch(`${url}/work`, { headers: { 'PAYMENT-SIGNATURE': header } }),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200))
  const hashes = responses.map((one) => settlementOf(one).transaction)
  expect(new Set(hashes).size).toBe(1)
  expect(runs.length - before).toBe(1)
  expect(await balanceOf(account.address)).toBe(90_000n)
})

test('a second gate over the same store gives the kept answer', async () => {
  const account = await fundedAccount(chain, 10_000n)
  const header = await signFor(account, await fetch(`${url}/work`))
  const headers = { 'PAYMENT-SIGNATURE': header }
  const first = await fetch(`${url}/work`, { headers })
  const { orders } = shop
  const offers = {
    work: { amount: '0.01', description: 'Some work' },
  }
  const other = createX402Gate({ orders, offers }).protect('work', () => {
    throw new Error('ran again')
  })
  const again = await other(new Request(`${url}/work`, { headers }))
  expect(again.status).toBe(200)
  expect(await again.text()).toBe(await first.text())
  expect(settlementOf(again)).toEqual(settlementOf(first))
})
