import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { brotliCompressSync } from 'node:zlib'
import { decodePayment, encodePayment, signPayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { erc20Abi } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { buildPage } from '../../../examples/shop/server/buildPage.js'
import { startShop } from '../../../examples/shop/server/startShop.js'
import { token } from '../../../examples/shop/token.js'

// All that a shop leaves behind would be in here.
const folder = mkdtempSync(join(tmpdir(), 'countersign-shops-'))
const before = process.env.TMPDIR
process.env.TMPDIR = folder
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  rmSync(folder, { recursive: true, force: true })
})
const page = mkdtempSync(join(folder, 'page-'))
const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
await buildPage(page)
const shop = await startShop({ page, chain })
afterAll(() => shop.close())
const merchantKey = shop.merchantUrl.split('#key=')[1] ?? ''

const post = (path: string, body: unknown, headers = {}): Promise<Response> =>
  fetch(`${shop.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const placeOrder = async (
  url = shop.url,
): Promise<{ path: string; headers: Record<string, string> }> => {
  const response = await fetch(`${url}/shop/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ basket: { 'house-blend': 1 } }),
  })
  const { orderId, buyerToken } = await response.json()
  return {
    path: `/payments/orders/${orderId}`,
    headers: {
      authorization: `Bearer ${buyerToken}`,
      'content-type': 'application/json',
    },
  }
}

test.each(['/', '/merchant', '/merchant/orders/1', '/orders/1'])(
  'the document of %s loads nothing from elsewhere',
  async (path) => {
    const response = await fetch(`${shop.url}${path}`)
    const html = await response.text()

    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'",
    )
    expect(html).toContain('<div id="root">')
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//)
  },
)

test('the first load of a buyer stays small: the development wallet comes later', () => {
  const document = readFileSync(join(page, 'index.html'), 'utf8')
  const [, script = ''] = /src="(\/assets\/[^"]+)"/.exec(document) ?? []
  const code = readFileSync(join(page, script))

  expect(brotliCompressSync(code).length).toBeLessThan(100_000)
  expect(String(code)).not.toMatch(/secp256k1/)
})

test('a script that is not there is not found, unlike a page', async () => {
  const response = await fetch(`${shop.url}/assets/other.js`)

  expect(response.status).toBe(404)
})

test('the shop takes the token of its chain, which its page is built with', () => {
  expect(chain).toMatchObject({
    token: token.token,
    chain: { id: token.chainId },
  })
})

test('the server, not the page, says what a basket costs', async () => {
  const basket = { 'house-blend': 2, 'brewing-guide': 1 }
  const response = await post('/shop/orders', { basket, amount: '0.01' })
  const { orderId } = await response.json()

  expect(response.status).toBe(201)
  expect(await shop.orders.get({ orderId })).toMatchObject({
    amount: '30',
    metadata: {
      description: '2 × House Blend, 250 g; Brewing Guide, PDF',
      capture: 'onShipping',
    },
  })
})

test('an order is placed, paid over HTTP and stored', async () => {
  const { path, headers } = await placeOrder()
  const { payer, merchant } = chain.clients
  const answer = await fetch(`${shop.url}${path}/payment`, { headers })
  const { payment } = await answer.json()
  const from = payer.account.address.toLowerCase()
  const message = { ...payment.message, from }
  const signed = await signPayment(payer, {
    payment: decodePayment({ ...payment, message }),
    expect: {
      chainId: 31337,
      token: chain.token,
      to: merchant.account.address,
      amount: '12.50',
    },
  })
  const posted = await fetch(`${shop.url}${path}/payment`, {
    method: 'POST',
    headers,
    body: encodePayment(signed),
  })

  expect(posted.status).toBe(200)
  expect(await posted.json()).toMatchObject({ state: 'stored' })
})

test.each([
  [{ tea: 1 }],
  [{ 'house-blend': 1, tea: 1 }],
  [{ 'house-blend': 0 }],
  [{ 'house-blend': -1 }],
  [{ 'house-blend': 1.5 }],
  [{ 'house-blend': 21 }],
  [{ 'house-blend': '1' }],
  [{}],
  [null],
  ['house-blend'],
])('the basket %j is not ordered', async (basket) => {
  expect((await post('/shop/orders', { basket })).status).toBe(400)
})

test('the faucet fills an empty purse, and no purse twice', async () => {
  const address = '0x00000000000000000000000000000000000000a1'
  await post('/shop/faucet', { address })
  await post('/shop/faucet', { address })
  const balance = await chain.clients.public.readContract({
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })

  expect(balance).toBe(1_000_000_000n)
})

test.each([
  [{ address: 'me' }, 400],
  [{}, 400],
  [null, 400],
])('the faucet refuses %j', async (body, status) => {
  expect((await post('/shop/faucet', body)).status).toBe(status)
})

test.each(['/shop/orders', '/shop/faucet'])(
  'another site’s page changes nothing at %s',
  async (path) => {
    const crossSite = await post(path, {}, { origin: 'https://example.com' })
    const form = await post(path, {}, { 'content-type': 'text/plain' })

    expect([crossSite.status, form.status]).toEqual([403, 415])
  },
)

test.each([
  ['with the key of the link', `Bearer ${merchantKey}`, 200],
  ['with another key', 'Bearer other', 401],
  ['without a key', undefined, 401],
])('the orders are shown %s: %s gives %i', async (_name, key, status) => {
  const response = await fetch(`${shop.url}/payments/merchant/orders`, {
    headers: key === undefined ? {} : { authorization: key },
  })

  expect(response.status).toBe(status)
})

test('a backend that starts again knows its orders and its keys', async () => {
  const data = mkdtempSync(join(folder, 'data-'))
  const first = await startShop({ page, chain, data })
  const { path, headers } = await placeOrder(first.url)
  await first.close()
  const port = Number(new URL(first.url).port)
  const second = await startShop({ page, chain, data, port })
  try {
    const response = await fetch(`${second.url}${path}`, { headers })

    expect(second.merchantUrl).toBe(first.merchantUrl)
    expect(await response.json()).toMatchObject({ state: 'drafted' })
  } finally {
    await second.close()
  }
})

test('a shop that is closed answers no more, and leaves nothing', async () => {
  const left = readdirSync(folder)
  const { url, close, ...own } = await startShop({ page })
  const stream = await fetch(`${url}/payments/merchant/events`, {
    headers: {
      authorization: `Bearer ${own.merchantUrl.split('#key=')[1]}`,
    },
  })
  await close()

  expect(stream.status).toBe(200)
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  await expect(fetch(own.chain.urls.http)).rejects.toThrow('fetch failed')
  expect(readdirSync(folder)).toEqual(left)
})

test('a shop whose start fails half-way leaves nothing', async () => {
  const left = readdirSync(folder)
  const taken = createServer()
  await new Promise<void>((resolve) => {
    taken.listen(0, '127.0.0.1', resolve)
  })
  const address = taken.address()
  const port = typeof address === 'object' ? address?.port : undefined
  try {
    await expect(startShop({ page, port })).rejects.toThrow('EADDRINUSE')
    expect(readdirSync(folder)).toEqual(left)
  } finally {
    taken.close()
  }
})

test('the command prints both addresses, and ends on Ctrl-C', async () => {
  const left = readdirSync(folder)
  const program = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '--import',
      './scripts/takePageAssets.ts',
      'examples/shop/main.ts',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(program, 'exit')
  const lines: string[] = []
  for await (const line of createInterface({ input: program.stdout })) {
    lines.push(line)
    if (line.includes('Ctrl-C')) program.kill('SIGINT')
  }
  const [status] = await ended
  const addresses = lines.join('\n').match(/http:\S+/g) ?? []

  expect(status).toBe(0)
  expect(addresses).toEqual([
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    expect.stringMatching(/\/merchant#key=[\w-]{43}$/),
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  ])
  for (const address of addresses)
    await expect(fetch(address)).rejects.toThrow('fetch failed')
  expect(readdirSync(folder).filter((name) => !/^tsx/.test(name))).toEqual(left)
})
