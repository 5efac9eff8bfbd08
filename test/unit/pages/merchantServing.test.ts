import type { Principal } from 'countersign/http'
import { createPages } from 'countersign/pages'
import { expect, test, vi } from 'vitest'
import { baseOrders, dataOf, openPages, usdc } from '../support/openPages.js'

const recipient = `0x${'17'.repeat(20)}` as const

/** Accepts the key, or a session. */
const authorize = ({ headers }: Request): Principal | undefined =>
  headers.get('authorization') === 'Bearer right' ||
  headers.get('cookie') === 'session=1'
    ? { recipients: [recipient] }
    : undefined

const receipt = `/merchant/api/receipts/8453/0x${'a1'.repeat(32)}`

const right = { authorization: 'Bearer right' }

function openMerchant(merchant = {}, more = {}) {
  const { ask } = openPages({ ...more, merchant: { authorize, ...merchant } })
  return ask
}

test('without merchant, its pages are not there', async () => {
  const { ask } = openPages()
  expect((await ask('/merchant/')).status).toBe(404)
  expect((await ask('/merchant/api/merchant/orders')).status).toBe(404)
})

test.each([
  ['/merchant', './merchant/'],
  ['/merchant/', './'],
  ['/merchant/books', './'],
  ['/merchant/refunds', './'],
  ['/merchant/ceilings', './'],
  ['/merchant/subscriptions', './'],
  ['/merchant/orders/one', '../'],
  ['/merchant/subscriptions/one', '../'],
])('%s loads its files from where they are', async (path, root) => {
  const ask = openMerchant({}, { basePath: '/shop' })
  const page = `/shop${path}`
  expect(await dataOf(ask(page))).toMatchObject({
    root,
    name: 'Roastery',
    isKnown: false,
    canWrite: false,
    hasSubscriptions: false,
    tokens: [{ chainId: 8453, symbol: 'USDC', decimals: 6 }],
  })
  const html = await (await ask(page)).text()
  const files = [...html.matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)]
  expect(files.length).toBeGreaterThan(1)
  for (const [, file = ''] of files) {
    const { pathname } = new URL(file, `https://shop.example${page}`)
    const answer = await ask(pathname)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
  }
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=/)
})

test('every answer says what may run, and no page is in a shared cache', async () => {
  const ask = openMerchant()
  for (const path of ['/merchant/', '/merchant/none', '/merchant/api/none']) {
    const { headers } = await ask(path)
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
  const { headers } = await ask('/merchant/')
  expect(headers.get('cache-control')).toBe('private, no-cache')
})

test('a session is enough, and a page without one asks for a key', async () => {
  const ask = openMerchant()
  const headers = { cookie: 'session=1' }
  expect(await dataOf(ask('/merchant/', { headers }))).toMatchObject({
    isKnown: true,
  })
  expect((await ask('/merchant/api/merchant/orders', { headers })).status).toBe(
    200,
  )
})

test.each([
  '/merchant/api/merchant/orders',
  '/merchant/api/merchant/health',
  receipt,
])('nobody else gets %s', async (path) => {
  const ask = openMerchant()
  expect((await ask(path)).status).toBe(401)
  const wrong = { authorization: 'Bearer wrong' }
  expect((await ask(path, { headers: wrong })).status).toBe(401)
})

test.each([null, 'constructor'])(
  'an authorize that answers %s lets nobody in',
  async (given) => {
    const ask = openMerchant({
      authorize: () => (given === null ? null : given.constructor),
    })
    expect((await ask(receipt)).status).toBe(401)
    expect(await dataOf(ask('/merchant/'))).toMatchObject({ isKnown: false })
  },
)

test('an authorize that fails is a fault of the shop, at each route', async () => {
  const ask = openMerchant({ authorize: () => Promise.reject('private') })
  for (const path of [receipt, '/merchant/api/merchant/orders']) {
    const answer = await ask(path)
    expect([answer.status, (await answer.json()).reason]).toEqual([
      500,
      'internal',
    ])
  }
})

test('a page of another site cannot have a node asked for a receipt', async () => {
  const ask = openMerchant()
  const from = async (site: string) => {
    const headers = { cookie: 'session=1', 'sec-fetch-site': site }
    const answer = await ask(receipt, { headers })
    return [answer.status, (await answer.json()).reason]
  }
  expect(await from('cross-site')).toEqual([403, 'crossSite'])
  for (const site of ['same-origin', 'none'])
    expect(await from(site)).toEqual([503, 'nodeUnavailable'])
})

test('at most 500 receipts are asked for at the same time', async () => {
  let asked = 0
  let fail = () => {}
  const down = new Promise<never>((_, reject) => {
    fail = () => reject(new Error('down'))
  })
  const request = () => {
    asked++
    return down
  }
  const pages = createPages(baseOrders(usdc, request), {
    payments: '/payments',
    name: 'Roastery',
    merchant: { authorize },
  })
  const ask = async () => {
    const url = `https://shop.example${receipt}`
    const answer = await pages(new Request(url, { headers: right }))
    return (await answer.json()).reason
  }
  const waiting = Array.from({ length: 500 }, ask)
  const last = ask()
  await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(500), 60_000)
  fail()
  expect(await last).toBe('overloaded')
  expect(new Set(await Promise.all(waiting))).toEqual(
    new Set(['nodeUnavailable']),
  )
})

test('pages that only read refuse every request that could change something', async () => {
  const path = '/merchant/api/merchant/orders/one/void'
  const post = { method: 'POST', headers: right, body: '{}' }
  const refused = await openMerchant()(path, post)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({
    reason: 'operationForbidden',
    detail: 'These pages only read.',
  })
  const allowed = await openMerchant({ write: true })(path, {
    ...post,
    headers: { ...right, 'content-type': 'application/json' },
  })
  expect(allowed.status).toBe(404)
  expect(await allowed.json()).toMatchObject({ reason: 'orderNotFound' })
})

test('the routes of buyers and other paths are not below the merchant’s pages', async () => {
  const ask = openMerchant()
  for (const path of ['/merchant/api/orders/one', '/merchant/api/openapi.json'])
    expect((await ask(path, { headers: right })).status).toBe(404)
  expect((await ask('/merchants')).status).toBe(404)
  expect((await ask('/merchant/', { method: 'POST' })).status).toBe(405)
})

test('a receipt is asked of the node of its chain alone, and its failure names no node', async () => {
  const ask = openMerchant()
  const get = (path: string) => ask(path, { headers: right })
  const down = await get(receipt)
  expect(down.status).toBe(503)
  expect(await down.text()).not.toContain('node.example')
  expect((await get(receipt.replace('8453', '10'))).status).toBe(404)
  expect((await get('/merchant/api/receipts/8453/0x1')).status).toBe(404)
})

test('the pages weigh at most 120 kB', async () => {
  const ask = openMerchant()
  const html = await (await ask('/merchant/')).text()
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)]
  let bytes = 0
  for (const [, file = ''] of files) {
    const headers = { 'accept-encoding': 'br' }
    const answer = await ask(`/merchant/${file}`, { headers })
    bytes += (await answer.arrayBuffer()).byteLength
  }
  expect(files.length).toBeGreaterThan(1)
  expect(bytes).toBeLessThan(120_000)
})

test.each([
  ['authorize', { authorize: 'all' }],
  ['merchant.write', { authorize, write: 'yes' }],
  ['origins[0]', { authorize, origins: ['shop'] }],
  ['merchant', { authorize, keys: [] }],
])('a wrong %s of merchant is refused at once', (field, merchant) => {
  const given = { merchant } as unknown as Parameters<typeof openPages>[0]
  expect(() => openPages(given)).toThrow(field)
})
