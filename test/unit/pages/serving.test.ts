import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { createOrders } from 'countersign/orders'
import { createPages } from 'countersign/pages'
import { memoryStore } from 'countersign/store'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base, optimism } from 'viem/chains'
import { expect, test } from 'vitest'
import { baseOrders, dataOf, openPages, usdc } from '../support/openPages.js'

const { ask } = openPages()

/** The addresses of script and styles in a page, resolved as a browser does. */
async function filesOf(path: string, answer: Promise<Response>) {
  const html = await (await answer).text()
  return [...html.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(
    ([, file = '']) => new URL(file, `https://shop.example${path}`).pathname,
  )
}

test('a page has no word of an order, and every answer says what may run', async () => {
  const answers = [
    await ask('/pay/one'),
    await ask('/pay/one/'),
    await ask('/pay/one', { method: 'POST' }),
    await ask((await filesOf('/pay/one', ask('/pay/one')))[0] ?? ''),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 405, 200])
  for (const { headers } of answers) {
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  const html = await (await ask('/pay/secret-id')).text()
  expect(html).not.toContain('secret-id')
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=/)
})

test('a page tells its script where the routes and what the tokens are', async () => {
  expect(await dataOf(ask('/pay/one'))).toMatchObject({
    payments: '../payments',
    name: 'Roastery',
    language: 'en',
    tokens: [
      {
        chainId: 8453,
        chain: 'Base',
        explorer: 'https://basescan.org',
        token: usdc,
        symbol: 'USDC',
        decimals: 6,
      },
    ],
  })
})

test('behind a prefix all addresses are right, also where a proxy adds one', async () => {
  const { ask } = openPages({
    basePath: '/shop/checkout',
    payments: '/shop/payments',
    logo: '/logo.svg',
    terms: '/terms',
  })
  const page = '/shop/checkout/pay/one'
  const { payments, terms } = await dataOf(ask(page))
  const seen = (path: unknown, prefix = '') =>
    new URL(String(path), `https://shop.example${prefix}${page}`).pathname
  expect(seen(payments)).toBe('/shop/payments')
  expect(seen(terms)).toBe('/terms')
  expect(seen(payments, '/eu')).toBe('/eu/shop/payments')
  const files = await filesOf(page, ask(page))
  expect(files).toHaveLength(4)
  for (const file of files) expect((await ask(file)).status).toBe(200)
  expect((await ask('/pay/one')).status).toBe(404)
})

test('routes at another origin may be asked, and nothing else', async () => {
  const payments = 'https://api.shop.example/payments'
  const { ask } = openPages({ payments })
  const policy = (await ask('/pay/one')).headers.get('content-security-policy')
  expect(policy).toContain("connect-src 'self' https://api.shop.example;")
  expect(await dataOf(ask('/pay/one'))).toMatchObject({ payments })
})

test('only the sites that the shop names show the page in a frame', async () => {
  const { ask } = openPages({ frameAncestors: ['https://shop.example'] })
  const policy = (await ask('/pay/one')).headers.get('content-security-policy')
  expect(policy).toMatch(/frame-ancestors https:\/\/shop\.example$/)
})

test.each([
  ['br', 'br'],
  ['gzip, deflate, br;q=0.5', 'br'],
  ['gzip, br;q=0', 'gzip'],
  ['gzip;q=0, br;q=0.0', null],
  ['*', 'br'],
  ['identity', null],
  ['', null],
])('for %j the script comes as %s', async (accepted, encoding) => {
  const [, , script = ''] = await filesOf('/pay/one', ask('/pay/one'))
  const plain = await (await ask(script)).text()
  const answer = await ask(script, { headers: { 'accept-encoding': accepted } })
  const { headers } = answer
  expect(headers.get('content-encoding')).toBe(encoding)
  expect(headers.get('vary')).toBe('accept-encoding')
  expect(headers.get('cache-control')).toBe(
    'public, max-age=31536000, immutable',
  )
  expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  const body = Buffer.from(await answer.arrayBuffer())
  const sent =
    encoding === 'br'
      ? brotliDecompressSync(body)
      : encoding === 'gzip'
        ? gunzipSync(body)
        : body
  expect(sent.toString()).toBe(plain)
})

test('what a browser has already is not sent again', async () => {
  const paths = ['/pay/one', ...(await filesOf('/pay/one', ask('/pay/one')))]
  for (const path of paths) {
    const { headers } = await ask(path)
    const etag = headers.get('etag') ?? ''
    const again = (value: string) =>
      ask(path, { headers: { 'if-none-match': value } })
    expect((await again(etag)).status).toBe(304)
    expect((await again(`"other", W/${etag}`)).status).toBe(304)
    expect((await again('"other"')).status).toBe(200)
  }
})

test('each form of a file has an ETag of its own', async () => {
  const [, , script = ''] = await filesOf('/pay/one', ask('/pay/one'))
  const etagFor = async (accepted: string) =>
    (
      await ask(script, { headers: { 'accept-encoding': accepted } })
    ).headers.get('etag')
  const etags = await Promise.all(['br', 'gzip', ''].map(etagFor))
  expect(new Set(etags).size).toBe(3)
})

test('HEAD answers like GET, without a body', async () => {
  const [file = ''] = await filesOf('/pay/one', ask('/pay/one'))
  for (const path of ['/pay/one', file]) {
    const asked = await ask(path, { method: 'HEAD' })
    expect(asked.status).toBe(200)
    expect([...asked.headers]).toEqual([...(await ask(path)).headers])
    expect(await asked.text()).toBe('')
  }
})

test.each([
  '/',
  '/pay',
  '/pay/',
  '/pay//',
  '/pay/one/two',
  '/pay/assets/nothing.js',
  '/pay/assets/../one/two',
  '/pay/%E0%A4%A',
  '/pay/%00',
  '/PAY/one',
  '/x/pay/one',
])('nothing is served at %s', async (path) => {
  expect((await ask(path)).status).toBe(404)
})

const sum = (sizes: readonly number[]) =>
  sizes.reduce((total, size) => total + size, 0)

test('the first page weighs at most 60 kB, its script at most 25 kB', async () => {
  const sizeOf = async (path: string) => {
    const answer = await ask(path, { headers: { 'accept-encoding': 'br' } })
    return (await answer.arrayBuffer()).byteLength
  }
  const files = await filesOf('/pay/one', ask('/pay/one'))
  const sizes = await Promise.all(['/pay/one', ...files].map(sizeOf))
  const scripts = await Promise.all(
    files.filter((file) => file.endsWith('.js')).map(sizeOf),
  )
  expect(scripts).toHaveLength(2)
  expect(sum(scripts)).toBeLessThan(25_000)
  expect(sum(sizes)).toBeLessThan(60_000)
})

test('while the node does not answer about a token, the page says to try again', async () => {
  const orders = baseOrders(`0x${'7e'.repeat(20)}`)
  const pages = createPages(orders, { payments: '/payments', name: 'Roastery' })
  const answer = await pages(new Request('https://shop.example/pay/one'))
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(await answer.text()).not.toContain('node.example')
})

test('a node that never answers leaves out its own token, and other tokens are paid', async () => {
  const account = privateKeyToAccount(`0x${'17'.repeat(32)}`)
  const asked: string[] = []
  const silent = custom(
    {
      request: ({ method }) => {
        asked.push(method)
        return new Promise(() => undefined)
      },
    },
    { retryCount: 0 },
  )
  const clients = [base, optimism].map((chain) =>
    createClient({ chain, transport: silent, account }),
  )
  const orders = createOrders({
    store: memoryStore({ volatile: true }),
    seal: 'none',
    tokens: clients.map((client, at) => ({
      client,
      token: at === 0 ? usdc : (`0x${'77'.repeat(20)}` as const),
    })),
    wallets: clients,
  })
  const pages = createPages(orders, { payments: '/payments', name: 'Roastery' })
  const page = () => pages(new Request('https://shop.example/pay/one'))
  const times: number[] = []
  for (const _ of [1, 2]) {
    const start = performance.now()
    expect(await dataOf(page())).toMatchObject({ tokens: [{ chainId: 8453 }] })
    times.push(performance.now() - start)
  }
  expect(asked.length).toBeGreaterThan(0)
  // Only the first page waits for the node.
  const [first = 0, second = 0] = times
  expect(second).toBeLessThan(first / 2)
})

test('an address in capitals means the same', async () => {
  const { ask: askOther } = openPages({
    payments: 'HTTPS://Pay.Example/payments/',
  })
  expect(await dataOf(askOther('/pay/one'))).toMatchObject({
    payments: 'https://pay.example/payments',
  })
  const policy = (await askOther('/pay/one')).headers.get(
    'content-security-policy',
  )
  expect(policy).toContain("connect-src 'self' https://pay.example;")
})
