import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { x402Client as oldClient, wrapAxiosWithPayment } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import axios from 'axios'
import { expressPayment, honoPayment, nextPayment } from 'countersign/x402'
import express from 'express'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { NextRequest, NextResponse } from 'next/server.js'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  balanceOf,
  chain,
  openGateShop,
  payingFetch,
  price,
  requiredBy,
  serveApp,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const { gate } = await openGateShop()
let runs = 0

/** What a page may read. */
const origin = 'https://page.example'
const exposed = ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE']

const hono = new Hono()
hono.use('/page', cors({ origin, exposeHeaders: exposed }))
hono.use('/page', honoPayment(gate, 'work'))
hono.get('/page', (context) => context.text('for pages'))
hono.use('/work', honoPayment(gate, 'work'))
hono.use('/upfront', honoPayment(gate, 'upfront'))
hono.use('/fails', honoPayment(gate, 'work'))
hono.get('/free', (context) => context.text('free'))
hono.get('/work', (context) => {
  runs++
  context.header('x-own', 'kept')
  return context.json({ sky: 'clear' })
})
hono.post('/work', async (context) => context.json(await context.req.json()))
hono.get('/upfront', (context) => context.text('paid before'))
hono.get('/fails', () => {
  throw new Error('secret words')
})

hono.onError((_, context) => context.text('failed', 500))

const app = express()
app.use('/page', (_, response, next) => {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', exposed.join())
  next()
})
app.get('/page', expressPayment(gate, 'work'), (_, response) => {
  response.send('for pages')
})
app.get('/free', (_, response) => {
  response.send('free')
})
app.get('/work', expressPayment(gate, 'work'), (_, response) => {
  runs++
  response.setHeader('x-own', 'kept')
  response.cookie('session', '1').json({ sky: 'clear' })
})
app.post(
  '/work',
  express.json(),
  expressPayment(gate, 'work'),
  (request, response) => {
    response.json(request.body)
  },
)
app.post('/raw', expressPayment(gate, 'work'), async (request, response) => {
  response.send(Buffer.concat(await request.toArray()).toString())
})
app.get('/upfront', expressPayment(gate, 'upfront'), (_, response) => {
  response.write('paid ')
  response.end('before')
})
app.get('/fails', expressPayment(gate, 'work'), () => {
  throw new Error('secret words')
})
// Express 5 prints what it catches unless it runs as a test.
app.set('env', 'test')

const server = await new Promise<Server>((resolve) => {
  const started = app.listen(0, '127.0.0.1', () => resolve(started))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const { port } = server.address() as AddressInfo

const urls: readonly (readonly [string, string])[] = [
  ['Hono', await serveApp(hono.fetch)],
  ['Express', `http://127.0.0.1:${port}`],
]

test.each(urls)(
  '%s: a stock client pays, and gets the answer',
  async (_, url) => {
    const { account, fetch } = await payingFetch()
    const response = await fetch(`${url}/work`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ sky: 'clear' })
    expect(response.headers.get('x-own')).toBe('kept')
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(settlementOf(response)).toMatchObject({ success: true })
    expect(await balanceOf(account.address)).toBe(0n)
  },
)

test.each(urls)(
  '%s: the same payment gets the same answer, unpaid again',
  async (_, url) => {
    const account = await fundedAccount(chain, 2n * price)
    const before = runs
    const header = await signFor(account, await fetch(`${url}/work`))
    const headers = { 'PAYMENT-SIGNATURE': header }
    const first = await fetch(`${url}/work`, { headers })
    const again = await fetch(`${url}/work`, { headers })
    expect(await again.text()).toBe(await first.text())
    expect(again.headers.get('set-cookie')).toBe(
      first.headers.get('set-cookie'),
    )
    expect(settlementOf(again)).toEqual(settlementOf(first))
    expect(runs - before).toBe(1)
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test.each(urls)(
  '%s: the flow upfront is paid before the work',
  async (_, url) => {
    const { fetch } = await payingFetch()
    const response = await fetch(`${url}/upfront`)
    expect(await response.text()).toBe('paid before')
    expect(settlementOf(response)).toMatchObject({ success: true })
  },
)

test.each(urls)(
  '%s: a handler reads a body that was paid for',
  async (_, url) => {
    const { fetch } = await payingFetch()
    const response = await fetch(`${url}/work`, {
      method: 'POST',
      body: JSON.stringify({ city: 'Ulm' }),
      headers: { 'content-type': 'application/json' },
    })
    expect(await response.json()).toEqual({ city: 'Ulm' })
  },
)

test('Express: without a parser, the gate leaves the body to be read', async () => {
  const { fetch } = await payingFetch()
  const response = await fetch(`http://127.0.0.1:${port}/raw`, {
    method: 'POST',
    body: 'Ulm',
  })
  expect(await response.text()).toBe('Ulm')
})

test.each(urls)('%s: a handler that throws takes nothing', async (_, url) => {
  const { account, fetch } = await payingFetch()
  const response = await fetch(`${url}/fails`)
  expect(response.status).toBe(500)
  expect(settlementOf(response)).toBe(null)
  expect(await balanceOf(account.address)).toBe(price)
})

test.each(urls)('%s: what costs nothing is left alone', async (_, url) => {
  const response = await fetch(`${url}/free`)
  expect([response.status, await response.text()]).toEqual([200, 'free'])
  expect(response.headers.get('PAYMENT-REQUIRED')).toBe(null)
})

test.each(urls)('%s: unpaid, nothing of the handler shows', async (_, url) => {
  const before = runs
  const response = await fetch(`${url}/work`)
  expect(response.status).toBe(402)
  expect(response.headers.get('x-own')).toBe(null)
  expect(requiredBy(response).resource.url).toBe(`${url}/work`)
  expect(runs).toBe(before)
})

test.each(urls)('%s: a client of @x402/axios 2.11 pays', async (_, url) => {
  const account = await fundedAccount(chain, price)
  const client = new oldClient().register(
    'eip155:*',
    new ExactEvmScheme(account),
  )
  const paying = wrapAxiosWithPayment(axios.create(), client)
  const { data, headers } = await paying.get(`${url}/work`)
  expect(data).toEqual({ sky: 'clear' })
  expect(JSON.parse(atob(headers['payment-response']))).toMatchObject({
    success: true,
  })
  expect(await balanceOf(account.address)).toBe(0n)
})

test('Next: a route handler sells its answer, with the request and context of Next', async () => {
  const GET = nextPayment(
    gate,
    'work',
    async (
      request: NextRequest,
      context: { params: Promise<{ city: string }> },
    ) =>
      NextResponse.json({
        city: (await context.params).city,
        query: request.nextUrl.searchParams.get('day'),
      }),
  )
  const address = 'http://127.0.0.1:3000/weather/ulm?day=2'
  const context = { params: Promise.resolve({ city: 'ulm' }) }
  const account = await fundedAccount(chain, price)
  const asked = await GET(new NextRequest(address), context)
  expect(asked.status).toBe(402)
  const header = await signFor(account, asked)
  const headers = { 'PAYMENT-SIGNATURE': header }
  const response = await GET(new NextRequest(address, { headers }), context)
  expect(await response.json()).toEqual({ city: 'ulm', query: '2' })
  expect(settlementOf(response)).toMatchObject({ success: true })
})

test.each(urls)(
  '%s: a page can read the price and the answer, if CORS is in front of the gate',
  async (_, url) => {
    const account = await fundedAccount(chain, price)
    const asked = await fetch(`${url}/page`, { headers: { origin } })
    const header = await signFor(account, asked)
    const paid = await fetch(`${url}/page`, {
      headers: { origin, 'PAYMENT-SIGNATURE': header },
    })
    expect(await paid.text()).toBe('for pages')
    for (const { headers } of [asked, paid])
      expect([
        headers.get('access-control-allow-origin'),
        headers.get('access-control-expose-headers'),
      ]).toEqual([origin, exposed.join()])
  },
)
