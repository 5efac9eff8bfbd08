import { createHash } from 'node:crypto'
import { brotliCompressSync } from 'node:zlib'
import { expressPayment, honoPayment, nextPayment } from 'countersign/x402'
import { Hono } from 'hono'
import { NextRequest } from 'next/server.js'
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
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  requiredBy,
  serveApp,
} from '../support/x402Desk.js'

const { gate } = await openPaywallShop()
const { gate: plain } = await openGateShop({ paywall: false })

let runs = 0
const article = () => `<h1>Article ${++runs}</h1>`
const html = { 'content-type': 'text/html; charset=utf-8' }

/** The same routes in front of a gate, by each middleware. */
async function serveAll(
  sold: typeof gate,
): Promise<readonly (readonly [string, Ask])[]> {
  const hono = new Hono()
  hono.use('/work', honoPayment(sold, 'work'))
  hono.get('/work', (context) => context.html(article()))
  const express = await serveExpress((app) => {
    app.get('/work', expressPayment(sold, 'work'), (_, response) => {
      response.type('html').send(article())
    })
  })
  const next = nextPayment<NextRequest, undefined>(
    sold,
    'work',
    ({ nextUrl }) =>
      new Response(nextUrl.pathname === '/work' ? article() : '', {
        headers: html,
      }),
  )
  const protectedOne = sold.protect(
    'work',
    () => new Response(article(), { headers: html }),
  )
  const at = (url: string) => askUrl(`${url}/work`)
  return [
    ['fetch', at(await serveApp(protectedOne))],
    ['Hono', at(await serveApp(hono.fetch))],
    ['Express', at(express)],
    [
      'Next',
      (headers = {}) =>
        next(
          new NextRequest('http://127.0.0.1:3000/work', { headers }),
          undefined,
        ),
    ],
  ]
}

const servers = await serveAll(gate)
const plainServers = new Map(await serveAll(plain))

const shownHeaders = ({ headers }: Response): unknown =>
  [...headers].filter(
    ([name]) => !['date', 'payment-required', 'etag'].includes(name),
  )

test.each(servers)(
  '%s: a browser gets the page with the 402 answer, and programs see no difference',
  async (name, ask) => {
    const before = await plainServers.get(name)?.()
    const program = await ask()
    const page = await ask(navigation)
    if (!before) throw new Error(`no server ${name}`)
    expect(shownHeaders(program)).toEqual(shownHeaders(before))
    expect(await program.text()).toBe(await before.text())
    expect(page.status).toBe(402)
    expect(requiredBy(page)).toEqual(requiredBy(program))
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const data = await dataOf(Promise.resolve(page))
    expect(data).toMatchObject({
      name: 'Daily News',
      description: 'Some work',
      accepts: requiredBy(program).accepts,
      tokens: [{ chainId: chain.chain.id, token: chain.token, decimals: 6 }],
      answer: {},
    })
  },
)

test.each(servers)(
  '%s: a browser with the cookie sees what was paid for, once, and again when it reloads',
  async (_, ask) => {
    const account = await fundedAccount(chain, 2n * price)
    const { headers, payment } = await keepPaymentFor(account, ask)
    const before = runs
    const first = await ask(headers)
    const text = await first.text()
    expect([first.status, text]).toEqual([
      200,
      `<h1>Article ${before + 1}</h1>`,
    ])
    expect(first.headers.get('cache-control')).toBe('private, no-store')
    expect(first.headers.get('content-security-policy')).toBe(null)
    const again = await ask(headers)
    expect(await again.text()).toBe(text)
    // The cookie has the same value as the header.
    const program = await ask({ 'PAYMENT-SIGNATURE': payment })
    expect(await program.text()).toBe(text)
    expect(runs).toBe(before + 1)
    expect(await balanceOf(account.address)).toBe(price)
  },
)

const sold = gate.protect(
  'work',
  () => new Response(article(), { headers: html }),
)
const askAt =
  (path: string): Ask =>
  (headers = {}) =>
    sold(new Request(`https://news.example${path}`, { headers }))

test.each([
  ['a program', { accept: '*/*' }],
  ['fetch of a page', { accept: 'text/html', 'sec-fetch-mode': 'cors' }],
  ['an image', { accept: 'image/avif,*/*;q=0.8', 'sec-fetch-mode': 'no-cors' }],
  ['who wants no HTML', { accept: 'text/html;q=0, */*' }],
  ['a client of version 1', { ...navigation, 'X-PAYMENT': 'e30=' }],
])('%s gets no page, and its cookie pays for nothing', async (_, headers) => {
  const account = await fundedAccount(chain, price)
  const { headers: kept } = await keepPaymentFor(account, askAt('/image'))
  const { cookie = '' } = kept
  const answer = await askAt('/image')({ cookie, ...headers })
  expect(answer.status).toBe(402)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await balanceOf(account.address)).toBe(price)
})

test('HEAD has the headers of the page, and its cookie pays for nothing', async () => {
  const account = await fundedAccount(chain, price)
  const { headers } = await keepPaymentFor(account, askAt('/head'))
  const request = new Request('https://news.example/head', {
    method: 'HEAD',
    headers,
  })
  const answer = await sold(request)
  expect(answer.status).toBe(402)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await balanceOf(account.address)).toBe(price)
})

test.each([
  ['below it', '/a/b'],
  ['with another query', '/a?page=2'],
  ['above it', '/'],
])(
  'a cookie for one address is not taken for an address %s',
  async (_, path) => {
    const account = await fundedAccount(chain, 2n * price)
    const { headers } = await keepPaymentFor(account, askAt('/a'))
    expect((await askAt('/a')(headers)).status).toBe(200)
    const other = await askAt(path)(headers)
    expect(other.status).toBe(402)
    expect(await dataOf(Promise.resolve(other))).toMatchObject({ answer: {} })
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test('a payment opens every address of its resource', async () => {
  const { gate } = await openPaywallShop(
    {},
    { resource: ({ url }) => url.replace(/[?].*/, '') },
  )
  const sold = gate.protect('work', () => new Response('goods'))
  const at =
    (path: string): Ask =>
    (headers = {}) =>
      sold(new Request(`https://news.example${path}`, { headers }))
  const account = await fundedAccount(chain, 2n * price)
  const { headers } = await keepPaymentFor(account, at('/a?from=mail'))
  const answers = [await at('/a?from=feed')(headers), await at('/b')(headers)]
  expect(answers.map(({ status }) => status)).toEqual([200, 402])
  expect(await balanceOf(account.address)).toBe(price)
})

test('a policy that Express sets on all answers is on the content, and not on the page', async () => {
  const policy = "default-src 'self'"
  const url = await serveExpress((app) => {
    app.use((_, response, next) => {
      response.set('content-security-policy', policy)
      next()
    })
    app.get('/work', expressPayment(gate, 'work'), (_, response) => {
      response.send('goods')
    })
  })
  const ask = askUrl(`${url}/work`)
  const own = (await ask(navigation)).headers.get('content-security-policy')
  expect(own).toMatch(/^default-src 'none'; script-src 'sha256-/)
  const account = await fundedAccount(chain, price)
  const { headers } = await keepPaymentFor(account, ask)
  const content = await ask(headers)
  expect(content.headers.get('content-security-policy')).toBe(policy)
})

test('one request carries payments for two addresses, and each buys its own', async () => {
  const account = await fundedAccount(chain, 2n * price)
  const above = await keepPaymentFor(account, askAt('/two'))
  const below = await keepPaymentFor(account, askAt('/two/deep'))
  const cookie = `${below.headers.cookie}; ${above.headers.cookie}`
  const headers = { ...navigation, cookie }
  const answers = [
    await askAt('/two/deep')(headers),
    await askAt('/two')(headers),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(await balanceOf(account.address)).toBe(0n)
})

test.each([
  [
    'a payment of nobody with money',
    0n,
    (payment: string) => payment,
    'tooLittle',
  ],
  [
    'half a payment',
    price,
    (payment: string) => payment.slice(0, 90),
    'refused',
  ],
  ['nothing that is a payment', price, () => 'x', 'refused'],
])(
  'a cookie with %s gets the page again, which says why and which cookie has ended',
  async (_, funds, spoil, reason) => {
    const account = await fundedAccount(chain, funds)
    const ask = askAt('/refused')
    const { headers, payment } = await keepPaymentFor(account, ask)
    const { cookie = '' } = headers
    const given = spoil(payment)
    const page = await ask({
      ...headers,
      cookie: cookie.replace(payment, given),
    })
    expect(page.status).toBe(402)
    const data = await dataOf(Promise.resolve(page))
    const whole = JSON.parse(atob(payment)).payload.authorization.nonce
    expect(data.answer).toMatchObject({
      failure: { reason },
      ended: given === payment ? whole : '',
    })
    expect(JSON.stringify(data)).not.toContain(
      JSON.parse(atob(payment)).payload.signature.slice(2, 66),
    )
  },
)

test('a payment that bought something else gets the page, and pays for nothing', async () => {
  const account = await fundedAccount(chain, 2n * price)
  const bought = await keepPaymentFor(account, askAt('/one'))
  expect((await askAt('/one')(bought.headers)).status).toBe(200)
  const other = await askAt('/other')(navigation)
  const { cookie } = await dataOf(Promise.resolve(other))
  const page = await askAt('/other')({
    ...navigation,
    cookie: `${cookie}=${bought.payment}`,
  })
  expect(page.status).toBe(402)
  expect((await dataOf(Promise.resolve(page))).answer).toMatchObject({
    failure: { reason: 'ended' },
  })
  expect(await balanceOf(account.address)).toBe(price)
})

test('a stream was sent once: its cookie gets the page, which says so', async () => {
  const { gate } = await openPaywallShop(
    {},
    {
      offers: { stream: { amount: '0.01', flow: 'upfront', stream: true } },
    },
  )
  const sold = gate.protect('stream', () => new Response('goods'))
  const ask: Ask = (headers = {}) =>
    sold(new Request('https://news.example/stream', { headers }))
  const account = await fundedAccount(chain, 2n * price)
  const { headers } = await keepPaymentFor(account, ask)
  expect(await (await ask(headers)).text()).toBe('goods')
  const page = await ask(headers)
  expect(page.status).toBe(402)
  expect((await dataOf(Promise.resolve(page))).answer).toMatchObject({
    failure: { reason: 'answered' },
  })
  expect(await balanceOf(account.address)).toBe(price)
})

test('the answer of a handler that fails is shown unchanged, and nothing is charged', async () => {
  const failing = gate.protect('work', () =>
    Response.json({ error: 'sold out' }, { status: 402 }),
  )
  const ask: Ask = (headers = {}) =>
    failing(new Request('https://news.example/fails', { headers }))
  const account = await fundedAccount(chain, price)
  const { headers } = await keepPaymentFor(account, ask)
  const answer = await ask(headers)
  expect([answer.status, await answer.json()]).toEqual([
    402,
    { error: 'sold out' },
  ])
  expect(await balanceOf(account.address)).toBe(price)
})

test('a handler that throws gets a page that says to try again with the same payment', async () => {
  const throwing = gate.protect('work', () => {
    throw new Error('secret words')
  })
  const ask: Ask = (headers = {}) =>
    throwing(new Request('https://news.example/throws', { headers }))
  const account = await fundedAccount(chain, price)
  const { headers } = await keepPaymentFor(account, ask)
  const page = await ask(headers)
  expect(page.status).toBe(500)
  expect((await dataOf(Promise.resolve(page))).answer).toEqual({
    isLater: true,
    failure: { reason: 'failed' },
  })
  expect(await balanceOf(account.address)).toBe(price)
})

test('while a capture takes long, the page says not to pay again, and loads itself again', async () => {
  const { gate } = await openPaywallShop(
    {},
    { timeout: 200 },
    { policy: { maxFee: 1n } },
  )
  const sold = gate.protect('work', () => new Response('goods'))
  const ask: Ask = (headers = {}) =>
    sold(new Request('https://news.example/slow', { headers }))
  const account = await fundedAccount(chain, price)
  const { headers } = await keepPaymentFor(account, ask)
  const page = await ask(headers)
  expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await dataOf(Promise.resolve(page))).answer).toEqual({
    isLater: true,
    failure: { reason: 'wait' },
    seconds: 1,
  })
})

test('the policy of the page lets its own script and styles run, and they are small', async () => {
  const { gate } = await openPaywallShop({
    frameAncestors: ['https://reader.example'],
    language: 'de',
  })
  const sold = gate.protect('work', () => new Response('goods'))
  const page = await sold(
    new Request('https://news.example/policy', { headers: navigation }),
  )
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).not.toContain('unsafe')
  expect(policy).toMatch(/frame-ancestors https:\/\/reader\.example$/)
  expect(page.headers.get('content-language')).toBe('de')
  const text = await page.text()
  const [script, style] = ['script type="module"', 'style'].map((tag) => {
    const [, found = ''] =
      new RegExp(`<${tag}>([^]*?)</${tag.slice(0, 5)}`).exec(text) ?? []
    const hash = createHash('sha256').update(found).digest('base64')
    expect(policy).toContain(`${tag.split(' ')[0]}-src 'sha256-${hash}'`)
    return found
  })
  const packed = (content = '') => brotliCompressSync(content).length
  expect(packed(script)).toBeGreaterThan(5_000)
  expect(packed(script)).toBeLessThan(25_000)
  expect(packed(style)).toBeGreaterThan(500)
  expect(packed(text)).toBeLessThan(60_000)
})

test('a handler gets the request as it came, with what its server added to it', async () => {
  const seen: unknown[] = []
  const sold = gate.protect('work', (request) => {
    seen.push(Reflect.get(request, 'params'))
    return new Response('goods')
  })
  const ask: Ask = (headers = {}) => {
    const request = new Request('https://news.example/added', { headers })
    return sold(Object.assign(request, { params: { id: '7' } }))
  }
  const account = await fundedAccount(chain, price)
  const { headers } = await keepPaymentFor(account, ask)
  await ask(headers)
  expect(seen).toEqual([{ id: '7' }])
})
