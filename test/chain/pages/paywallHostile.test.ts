import { expect, test } from 'vitest'
import { dataOf } from '../../unit/support/openPages.js'
import { fundedAccount } from '../support/desk.js'
import {
  type Ask,
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

test.each(['unavailable', 'too_many_open_payments', 'unexpected_verify_error'])(
  'a handler that fails with %s, as a gate does, is shown as it is',
  async (error) => {
    const account = await fundedAccount(chain, price)
    const ask = askOf(
      gate.protect('work', () => Response.json({ error }, { status: 503 })),
    )
    const { headers } = await keepPaymentFor(account, ask)
    const answer = await ask(headers)
    expect([answer.status, await answer.json()]).toEqual([503, { error }])
    expect(await balanceOf(account.address)).toBe(price)
  },
)
