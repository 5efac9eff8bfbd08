import { expressPayment, honoPayment } from 'countersign/x402'
import express from 'express'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  chain,
  openGateShop,
  price,
  serveApp,
  signFor,
} from '../../support/x402Desk.js'

const { gate } = await openGateShop({ mostRequestBytes: 10 })
/** Its chain never answers. */
const away = await openGateShop({}, { url: 'http://127.0.0.1:1' })

/** What middleware in front sets; the id is new each time. */
let ids = 0
const inFront = (): [string, string][] => [
  ['x-request-id', String(++ids)],
  ['strict-transport-security', 'max-age=1'],
  ['access-control-allow-origin', '*'],
  ['vary', 'Origin'],
  ['set-cookie', `visit=${ids}`],
  ['set-cookie', 'theme=dark'],
  ['cdn-cache-control', 'max-age=60'],
]

const hono = new Hono()
hono.use(async (context, next) => {
  for (const [name, value] of inFront())
    context.header(name, value, { append: true })
  await next()
})
hono.use('/sold', honoPayment(gate, 'work'))
hono.use('/away', honoPayment(away.gate, 'work'))
hono.all('/sold', (context) => {
  context.header('x-own', 'work')
  context.header('set-cookie', 'paid=1', { append: true })
  context.header('vary', 'Accept', { append: true })
  return context.text(`goods of ${context.req.method}`)
})
hono.options('/elsewhere', honoPayment(gate, 'work'), (context) =>
  context.text('from behind', 203),
)

const serve = () =>
  serveExpress((app) => {
    app.use((_, response, next) => {
      for (const [name, value] of inFront()) response.append(name, value)
      next()
    })
    app.use('/sold', expressPayment(gate, 'work'))
    app.use('/away', expressPayment(away.gate, 'work'))
    app.all('/sold', express.json(), (request, response) => {
      response.setHeader('x-own', 'work')
      response.removeHeader('x-powered-by')
      response.append('set-cookie', 'paid=1')
      response.vary('Accept')
      response.send(`goods of ${request.method}`)
    })
    app.options('/elsewhere', expressPayment(gate, 'work'), (_, response) => {
      response.status(203).send('from behind')
    })
  })

const urls: readonly (readonly [string, string])[] = [
  ['Hono', await serveApp(hono.fetch)],
  ['Express', await serve()],
]

/** Expects what middleware in front has set, for this request. */
function expectFront({ headers }: Response, vary = 'Origin'): void {
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-request-id': String(ids),
    'strict-transport-security': 'max-age=1',
    'access-control-allow-origin': '*',
    vary,
  })
  const cookies = [`visit=${ids}`, 'theme=dark']
  expect(headers.getSetCookie().slice(0, 2)).toEqual(cookies)
}

const payFor = async (url: string) => {
  const account = await fundedAccount(chain, price)
  return { 'PAYMENT-SIGNATURE': await signFor(account, await fetch(url)) }
}

test.each(urls)('%s: a 402 has the headers in front', async (_, url) => {
  const response = await fetch(`${url}/sold`)
  expect(response.status).toBe(402)
  expectFront(response)
  expect(response.headers.get('x-own')).toBe(null)
})

test.each(urls)(
  '%s: rules for caches in front are not those of a 402',
  async (_, url) => {
    const { headers } = await fetch(`${url}/sold`)
    expect(headers.get('cdn-cache-control')).toBe(null)
    expect(headers.get('cache-control')).toBe('no-store')
  },
)

test.each(urls)('%s: a 413 has the headers in front', async (_, url) => {
  const headers = await payFor(`${url}/sold`)
  const body = 'more than ten bytes'
  const init = { method: 'POST', headers, body }
  const response = await fetch(`${url}/sold`, init)
  expect(response.status).toBe(413)
  expectFront(response)
})

test.each(urls)('%s: a 503 has the headers in front', async (_, url) => {
  const response = await fetch(`${url}/away`)
  expect(response.status).toBe(503)
  expectFront(response)
})

test.each(urls)(
  '%s: a kept answer has the headers in front of the request that asks again, and those of its handler',
  async (_, url) => {
    const headers = await payFor(`${url}/sold`)
    for (const _ of ['first', 'again']) {
      const response = await fetch(`${url}/sold`, { headers })
      expect([response.status, await response.text()]).toEqual([
        200,
        'goods of GET',
      ])
      expectFront(response, 'Origin, Accept')
      expect(response.headers.getSetCookie().slice(2)).toEqual(['paid=1'])
      expect(response.headers.get('x-own')).toBe('work')
      expect(response.headers.get('x-powered-by')).toBe(null)
      expect(response.headers.get('countersign-removed')).toBe(null)
    }
  },
)

const preflight = {
  method: 'OPTIONS',
  headers: {
    origin: 'https://page.example',
    'access-control-request-method': 'GET',
  },
}

test.each(urls)('%s: a preflight passes to what answers it', async (_, url) => {
  const response = await fetch(`${url}/elsewhere`, preflight)
  expect(response.status).toBe(203)
  expectFront(response)
})

test.each(urls)(
  '%s: a preflight gets nothing of what is sold',
  async (_, url) => {
    const response = await fetch(`${url}/sold`, preflight)
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('x-own')).toBe(null)
    expect(response.headers.getSetCookie()).not.toContain('paid=1')
    expectFront(response, 'Origin, Accept')
  },
)

test.each(urls)('%s: another OPTIONS is sold like GET', async (_, url) => {
  const response = await fetch(`${url}/sold`, { method: 'OPTIONS' })
  expect(response.status).toBe(402)
})

test('protect: a preflight is answered without work', async () => {
  const sold = gate.protect('work', () => new Response('goods'))
  const response = await sold(new Request('https://shop.example', preflight))
  expect([response.status, await response.text()]).toEqual([204, ''])
})
