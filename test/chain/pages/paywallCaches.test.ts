import { expressPayment, honoPayment, nextPayment } from 'countersign/x402'
import { Hono } from 'hono'
import { NextRequest } from 'next/server.js'
import { expect, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { serveExpress } from '../support/expressServer.js'
import {
  askUrl,
  keepPaymentFor,
  navigation,
  openPaywallShop,
} from '../support/paywallDesk.js'
import { openSharedCacheStandIn } from '../support/sharedCacheStandIn.js'
import { balanceOf, chain, price, serveApp } from '../support/x402Desk.js'

const { gate } = await openPaywallShop()

let runs = 0
/** Asks caches to store the answer, which they must not do with a paid one. */
const forCaches = {
  'cache-control': 'public, max-age=600',
  'cdn-cache-control': 'max-age=600',
  expires: 'Thu, 01 Jan 2037 00:00:00 GMT',
}

const work = () => new Response(`text ${++runs}`, { headers: forCaches })
/** Sells `/work` by a handler; other addresses are free. */
const besides =
  (sold: (request: Request) => Promise<Response>) => async (request: Request) =>
    new URL(request.url).pathname === '/work' ? sold(request) : work()

const hono = new Hono()
hono.use('/work', honoPayment(gate, 'work'))
hono.get('/:name', work)
const next = nextPayment<NextRequest, undefined>(gate, 'work', work)

const servers: readonly (readonly [string, string])[] = [
  ['fetch', await serveApp(besides(gate.protect('work', work)))],
  [
    'answer',
    await serveApp(
      besides((request) =>
        gate.answer(request, { offer: 'work', handler: work }),
      ),
    ),
  ],
  [
    'Next',
    await serveApp(
      besides((request) =>
        next(
          new NextRequest(request.url, { headers: request.headers }),
          undefined,
        ),
      ),
    ),
  ],
  ['Hono', await serveApp(hono.fetch)],
  [
    'Express',
    await serveExpress((app) => {
      app.use((_, response, next) => {
        response.set(forCaches)
        next()
      })
      app.use('/work', expressPayment(gate, 'work'))
      app.get('/:name', (_, response) => {
        response.send(`text ${++runs}`)
      })
    }),
  ],
]

test.each(servers)(
  '%s behind a shared cache: nobody gets the page or the answer of somebody else',
  async (_, origin) => {
    const cache = await openSharedCacheStandIn(origin)
    const free = askUrl(`${cache.url}/free`)
    expect(await (await free()).text()).toBe(await (await free()).text())
    expect(cache.hits()).toBe(1)

    const ask = askUrl(`${cache.url}/work`)
    const account = await fundedAccount(chain, 2n * price)
    const { headers, payment } = await keepPaymentFor(account, ask)
    const first = await ask(headers)
    expect(first.status).toBe(200)
    const text = await first.text()
    for (const [stranger, type] of [
      [navigation, 'text/html; charset=utf-8'],
      [{}, 'application/json'],
    ] as const) {
      const answer = await ask(stranger)
      expect(answer.status).toBe(402)
      expect(answer.headers.get('content-type')).toBe(type)
    }
    expect(await (await ask(headers)).text()).toBe(text)
    const program = await ask({ 'PAYMENT-SIGNATURE': payment })
    expect(await program.text()).toBe(text)
    expect(cache.hits()).toBe(1)
    expect(await balanceOf(account.address)).toBe(price)
  },
)
