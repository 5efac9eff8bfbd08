import { expressPayment } from 'countersign/x402'
import { expect, test } from 'vitest'
import { dataOf } from '../../unit/support/openPages.js'
import { fundedAccount } from '../support/desk.js'
import { serveExpress } from '../support/expressServer.js'
import {
  type Ask,
  askUrl,
  keepPaymentFor,
  navigation,
  openPaywallShop,
} from '../support/paywallDesk.js'
import { balanceOf, chain, price } from '../support/x402Desk.js'

const { gate } = await openPaywallShop({
  name: 'News </title><script>alert(1)</script>',
})

const askOf =
  (sold: (request: Request) => Promise<Response>): Ask =>
  (headers = {}) =>
    sold(new Request('https://news.example/work', { headers }))

test.each([
  ['an object that is no text', { toString: 1, valueOf: 1 }],
  ['markup', '"></script><script>alert(1)</script>'],
  ['null', null],
])(
  'a cookie whose nonce is %s gets the page, and nothing of it runs',
  async (_, nonce) => {
    const ask = askOf(gate.protect('work', () => new Response('goods')))
    const { cookie } = await dataOf(ask(navigation))
    const planted = btoa(
      JSON.stringify({ x402Version: 2, payload: { authorization: { nonce } } }),
    )
    const page = await ask({ ...navigation, cookie: `${cookie}=${planted}` })
    expect(page.status).toBe(402)
    const text = await page.clone().text()
    expect(text).not.toContain('<script>alert')
    const { answer } = await dataOf(Promise.resolve(page))
    expect(answer).toMatchObject({
      failure: { reason: 'refused' },
      ended: typeof nonce === 'string' ? nonce : '',
    })
  },
)

test('a cookie without the identifier that the shop now demands gets the page, which removes it', async () => {
  const { gate: strict } = await openPaywallShop(
    {},
    {
      offers: {
        work: {
          amount: '0.01',
          description: 'Some work',
          identifier: 'required',
        },
      },
    },
  )
  const account = await fundedAccount(chain, price)
  const ask = askOf(strict.protect('work', () => new Response('goods')))
  const { headers, payment } = await keepPaymentFor(account, ask)
  const { extensions, ...bare } = JSON.parse(atob(payment))
  const cookie = headers.cookie?.replace(payment, btoa(JSON.stringify(bare)))
  const page = await ask({ ...headers, cookie: cookie ?? '' })
  expect(page.status).toBe(402)
  expect((await dataOf(Promise.resolve(page))).answer).toMatchObject({
    failure: { reason: 'refused' },
    ended: bare.payload.authorization.nonce,
  })
  expect(await balanceOf(account.address)).toBe(price)
})

/** Answers of a gate itself, as a handler could give them. */
const likeGates: readonly (readonly [number, string])[] = [
  [503, 'unavailable'],
  [503, 'settlement_pending'],
  [503, 'unexpected_verify_error'],
  [429, 'too_many_open_payments'],
  [500, 'work_failed'],
  [500, 'answer_too_long'],
  [409, 'answered'],
  [400, 'payment_identifier_required'],
  [402, 'invalid_transaction_state'],
]

test.each(likeGates)(
  'a handler that fails with %i %s, as a gate does, is shown as it is',
  async (status, error) => {
    const account = await fundedAccount(chain, price)
    const offered = await gate.answer(new Request('https://news.example/'), {
      offer: 'work',
      handler: () => new Response('goods'),
    })
    const headers = { ...Object.fromEntries(offered.headers) }
    const ask = askOf(
      gate.protect('work', () => Response.json({ error }, { status, headers })),
    )
    const kept = await keepPaymentFor(account, ask)
    const answer = await ask(kept.headers)
    expect([answer.status, await answer.json()]).toEqual([status, { error }])
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test('a handler that is sold by another gate is shown as it is, also the offer of that gate', async () => {
  const { gate: inner } = await openPaywallShop({ name: 'Wire' })
  const account = await fundedAccount(chain, price)
  const ask = askOf(
    gate.protect(
      'work',
      inner.protect('work', () => new Response('goods')),
    ),
  )
  const { headers } = await keepPaymentFor(account, ask)
  const answer = await ask({ ...headers, accept: 'text/html' })
  expect(answer.status).toBe(402)
  expect(await dataOf(Promise.resolve(answer))).toMatchObject({ name: 'Wire' })
  expect(await balanceOf(account.address)).toBe(price)
})

test('a browser that asks for a part gets the page, keeps its payment, and gets all when it loads the page again', async () => {
  const account = await fundedAccount(chain, price)
  const ask = askOf(gate.protect('work', () => new Response('goods')))
  const { headers } = await keepPaymentFor(account, ask)
  const page = await ask({ ...headers, range: 'bytes=2-' })
  expect(page.status).toBe(400)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect((await dataOf(Promise.resolve(page))).answer).toEqual({
    isLater: true,
    failure: { reason: 'failed' },
  })
  expect(await (await ask(headers)).text()).toBe('goods')
  expect(await balanceOf(account.address)).toBe(0n)
})

test('a browser at an address that is too long to pay for gets a page', async () => {
  const sold = gate.protect('work', () => new Response('goods'))
  const url = `https://news.example/${'a'.repeat(8_000)}`
  const page = await sold(new Request(url, { headers: navigation }))
  expect(page.status).toBe(414)
  expect((await dataOf(Promise.resolve(page))).answer).toEqual({
    isLater: true,
    failure: { reason: 'refused', values: { reason: 'address_too_long.' } },
  })
})

test('an answer of Express that is too long to be kept gets the page, as everywhere', async () => {
  const { gate: small } = await openPaywallShop({}, { mostAnswerBytes: 10 })
  const url = await serveExpress((app) => {
    app.get('/work', expressPayment(small, 'work'), (_, response) => {
      response.send('more than ten bytes')
    })
  })
  const sold = small.protect('work', () => new Response('more than ten bytes'))
  for (const ask of [askUrl(`${url}/work`), askOf(sold)]) {
    const account = await fundedAccount(chain, price)
    const { headers } = await keepPaymentFor(account, ask)
    const page = await ask(headers)
    expect(page.status).toBe(500)
    expect((await dataOf(Promise.resolve(page))).answer).toEqual({
      isLater: true,
      failure: { reason: 'failed' },
    })
  }
})
