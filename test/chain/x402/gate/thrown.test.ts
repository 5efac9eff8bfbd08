import type { X402Handler } from 'countersign/x402'
import { notFound, redirect } from 'next/navigation.js'
import { expect, test } from 'vitest'
import { eventsOf } from '../../support/shop.js'
import { balanceOf, openGateShop, price } from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

type Observed = { name: string; attributes: Record<string, unknown> }

const told: Observed[] = []
const shop = await openGateShop(
  { offers: { once: { amount: '0.01', afterFailure: 'giveUp' } } },
  { observe: (observation) => told.push(observation) },
)

/** What the handler of an order was reported with. */
const reportedOf = (orderId: string) =>
  told.filter(
    ({ name, attributes }) =>
      name === 'x402.handler' && attributes.orderId === orderId,
  )

test('the error of a handler is reported with its name, text and stack, and not shown to the client', async () => {
  const paid = await payFor(shop, 'work', () => {
    throw new RangeError('no such city')
  })
  const failed = await paid.send()
  expect([failed.status, await failed.text()]).toEqual([
    500,
    '{"error":"work_failed"}',
  ])
  const { id: orderId } = await paid.order()
  expect(reportedOf(orderId)).toEqual([
    {
      name: 'x402.handler',
      attributes: {
        ok: false,
        offer: 'work',
        orderId,
        error: 'RangeError',
        words: 'no such city',
        stack: expect.stringMatching(/^RangeError: no such city\n {4}at /),
      },
    },
  ])
})

test('an answer that fails is reported with its status', async () => {
  const paid = await payFor(
    shop,
    'work',
    () => new Response(null, { status: 404 }),
  )
  expect((await paid.send()).status).toBe(404)
  const { id: orderId } = await paid.order()
  expect(reportedOf(orderId)).toMatchObject([{ attributes: { status: 404 } }])
})

test.each([
  ['a header', (header: string) => header],
  ['half of a header', (header: string) => header.slice(100, 400)],
  ['a signature', signatureOf],
  ['r of a signature', (header: string) => signatureOf(header).slice(2, 66)],
  ['s of a signature', (header: string) => signatureOf(header).slice(66, 130)],
])(
  'the error of a handler that quotes %s is reported without it',
  async (_, quoteOf) => {
    const quoted: string[] = []
    const paid = await payFor(shop, 'work', ({ headers }) => {
      const quote = quoteOf(headers.get('PAYMENT-SIGNATURE') ?? '')
      quoted.push(quote)
      const error = new Error(`cannot read "${quote}"`)
      error.name = `Wrong ${quote}`
      throw error
    })
    await paid.send()
    const [quote = ''] = quoted
    const { id: orderId } = await paid.order()
    const text = JSON.stringify(reportedOf(orderId))
    expect(text).toContain('cannot read \\"…\\"')
    expect(text).not.toContain(quote)
  },
)

function signatureOf(header: string): string {
  return JSON.parse(atob(header)).payload.signature
}

const signals: readonly (readonly [string, X402Handler])[] = [
  ['the redirect of Next.js', () => redirect('/elsewhere')],
  ['the notFound of Next.js', () => notFound()],
  [
    'a response, as in React Router',
    () => {
      throw new Response('gone', { status: 410 })
    },
  ],
  [
    'the redirect of SvelteKit',
    () => {
      throw { status: 303, location: '/elsewhere' }
    },
  ],
]

test.each(signals)('%s passes, and nothing is taken', async (_, handler) => {
  let thrown: unknown
  let runs = 0
  const paid = await payFor(shop, 'work', async (request, payment) => {
    runs++
    if (runs > 1) return new Response('work')
    try {
      return await handler(request, payment)
    } catch (error) {
      thrown = error
      throw error
    }
  })
  const passed = await paid.send().catch((error: unknown) => error)
  if (thrown instanceof Response)
    expect(await (passed as Response).text()).toBe('gone')
  else expect(passed).toBe(thrown)
  expect(await balanceOf(paid.account.address)).toBe(price)
  const again = await paid.send()
  expect(await again.text()).toBe('work')
  expect(await balanceOf(paid.account.address)).toBe(0n)
})

test('what a handler throws for its framework passes to all that wait for it, also when the payment is given up', async () => {
  let fail = () => {}
  const waiting = new Promise<void>((resolve) => {
    fail = resolve
  })
  const paid = await payFor(shop, 'once', async () => {
    await waiting
    return notFound()
  })
  const both = Promise.allSettled([paid.send(), paid.send()])
  setTimeout(fail, 50)
  expect(await both).toMatchObject([
    { status: 'rejected', reason: { digest: 'NEXT_HTTP_ERROR_FALLBACK;404' } },
    { status: 'rejected', reason: { digest: 'NEXT_HTTP_ERROR_FALLBACK;404' } },
  ])
  expect(await balanceOf(paid.account.address)).toBe(price)
  expect((await paid.order()).state).toBe('voided')
})

test('after a capture, what a handler throws for its framework passes, and a refund is due', async () => {
  const paid = await payFor(shop, 'upfront', () => redirect('/elsewhere'))
  await expect(paid.send()).rejects.toThrow('NEXT_REDIRECT')
  const { id } = await paid.order()
  expect(await eventsOf(shop, id)).toContain('refundDue')
})
