import { expect, onTestFinished, test, vi } from 'vitest'
import { createRoutes } from '../../../src/http/routes/routes.js'
import { openStub, order, reasonOf } from '../support/httpStub.js'

const page = 'https://page.test'
const changing = createRoutes('').filter(({ method }) => method === 'POST')
const pathOf = (path: string) => `/payments${path.replace(/\{\w+\}/g, 'one')}`
const corsHeaders = ({ headers }: Response) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'))

const verbs = {
  void: async () => ({ ok: true, order, spendableUntil: undefined }) as const,
}
const voidOrder = '/payments/merchant/orders/one/void'

test('a page of another origin changes nothing', async () => {
  expect(changing.length).toBeGreaterThan(6)
  const asked: string[] = []
  const ask = openStub(verbs, {
    authorize: ({ url }) => {
      asked.push(url)
      return undefined
    },
  })
  for (const { path } of changing)
    for (const origin of [
      page,
      'null',
      'https://shop.test.evil',
      'http://shop.test',
      'https://shop.test:8443',
    ]) {
      const response = await ask(pathOf(path), {
        method: 'POST',
        headers: { origin },
      })
      expect([path, ...(await reasonOf(response))]).toEqual([
        ...[path, 403, 'crossSite'],
      ])
      expect(corsHeaders(response)).toEqual([])
    }
  expect(asked).toEqual([])
})

test('a page of the same origin does, and whatever is no page', async () => {
  const ask = openStub(verbs)
  const headers = { origin: 'https://shop.test' }
  expect((await ask(voidOrder, { method: 'POST', headers })).status).toBe(200)
  expect((await ask(voidOrder, { method: 'POST' })).status).toBe(200)
})

test('behind a proxy the origins that count are named', async () => {
  const ask = openStub(verbs, { origins: [page] })
  const send = async (origin: string) =>
    (await ask(voidOrder, { method: 'POST', headers: { origin } })).status
  expect(await send(page)).toBe(200)
  expect(await send('https://shop.test')).toBe(403)
})

test('without origins no other page reads anything', async () => {
  const ask = openStub()
  const headers = { origin: page }
  const response = await ask('/payments/orders/one', { headers })
  expect(corsHeaders(response)).toEqual([])
  const asked = await ask('/payments/orders/one/payment', {
    method: 'OPTIONS',
    headers: { ...headers, 'access-control-request-method': 'POST' },
  })
  expect(asked.status).toBe(405)
  expect(corsHeaders(asked)).toEqual([])
})

const ask = openStub(verbs, { cors: { origins: [page, 'https://b.test'] } })

test('a named site reads what its buyers may, problems included', async () => {
  for (const origin of [page, 'https://b.test'])
    for (const id of ['one', 'two']) {
      const response = await ask(`/payments/orders/${id}`, {
        headers: { origin },
      })
      expect(corsHeaders(response)).toEqual([
        ['access-control-allow-origin', origin],
        ['access-control-expose-headers', 'retry-after'],
      ])
      expect(response.headers.get('vary')).toBe('origin')
    }
})

test('a named site is told, too, that an answer took too long', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const ask = openStub(
    { getForBuyer: () => new Promise(() => {}) },
    { cors: { origins: [page] } },
  )
  const answered = ask('/payments/orders/one', { headers: { origin: page } })
  await vi.advanceTimersByTimeAsync(30_000)
  const response = await answered
  expect(corsHeaders(response)).toEqual([
    ['access-control-allow-origin', page],
    ['access-control-expose-headers', 'retry-after'],
  ])
  expect(await reasonOf(response)).toEqual([503, 'timeout'])
})

test('a named site may post what its buyers signed', async () => {
  const path = '/payments/orders/one/payment'
  const asked = await ask(path, {
    method: 'OPTIONS',
    headers: { origin: page, 'access-control-request-method': 'POST' },
  })
  expect(asked.status).toBe(204)
  expect(corsHeaders(asked)).toEqual([
    [
      'access-control-allow-headers',
      'authorization, content-type, last-event-id',
    ],
    ['access-control-allow-methods', 'GET, POST'],
    ['access-control-allow-origin', page],
    ['access-control-expose-headers', 'retry-after'],
    ['access-control-max-age', '600'],
  ])
  const sent = await ask(path, { method: 'POST', headers: { origin: page } })
  expect(await reasonOf(sent)).toEqual([415, 'wrongContentType'])
})

test('a site that is not named gets nothing, and none a merchant’s', async () => {
  const other = await ask('/payments/orders/one', {
    headers: { origin: 'https://other.test' },
  })
  expect(corsHeaders(other)).toEqual([])
  for (const { path, method, who } of createRoutes('')) {
    if (who === 'buyer') continue
    const headers = { origin: page, 'access-control-request-method': method }
    const asked = await ask(pathOf(path), { method: 'OPTIONS', headers })
    expect([path, asked.status]).toEqual([path, 405])
    const sent = await ask(pathOf(path), { method, headers })
    expect([path, corsHeaders(asked), corsHeaders(sent)]).toEqual([
      path,
      [],
      [],
    ])
    if (method === 'POST') expect([path, sent.status]).toEqual([path, 403])
    await sent.body?.cancel()
  }
})

test('nobody is ever told that everybody may', async () => {
  for (const origin of [page, 'https://other.test', '*', 'null']) {
    const response = await ask('/payments/orders/one', { headers: { origin } })
    expect(response.headers.get('access-control-allow-origin')).not.toBe('*')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  }
})
