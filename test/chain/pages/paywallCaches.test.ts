import { expressPayment, honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
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

const hono = new Hono()
hono.use('/work', honoPayment(gate, 'work'))
hono.get('/:name', (context) => context.text(`text ${++runs}`, 200, forCaches))

const servers: readonly (readonly [string, string])[] = [
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
