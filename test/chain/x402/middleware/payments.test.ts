import {
  expressPayment,
  honoPayment,
  nextPayment,
  type X402Payment,
  type X402Variables,
} from 'countersign/x402'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { notFound } from 'next/navigation.js'
import { NextRequest } from 'next/server.js'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  serveApp,
  signFor,
} from '../../support/x402Desk.js'

type Observed = { name: string; attributes: Record<string, unknown> }

const told: Observed[] = []
const shop = await openGateShop(
  {},
  { observe: (observation) => told.push(observation) },
)
const { gate, orders } = shop
let seen: X402Payment | undefined

const hono = new Hono<{ Variables: X402Variables }>()
hono.use('/sold', honoPayment(gate, 'work'))
hono.get('/sold', (context) => {
  seen = context.var.x402Payment
  return context.text('goods')
})
hono.get('/fails', honoPayment(gate, 'work'), () => {
  throw new HTTPException(404, { message: 'no such city' })
})
const honoUrl = await serveApp(hono.fetch)

const expressUrl = await serveExpress((app) => {
  app.get('/sold', expressPayment(gate, 'work'), (_, response) => {
    seen = response.locals.x402Payment
    response.send('goods')
  })
})

type City = { params: Promise<{ city: string }> }

const GET = nextPayment(
  gate,
  'work',
  async (_: NextRequest, { params }: City, payment) => {
    seen = payment
    const { city } = await params
    return city === 'ulm' ? new Response('goods') : notFound()
  },
)
const sold = gate.protect('work', (_, payment) => {
  seen = payment
  return new Response('goods')
})

const address = 'http://127.0.0.1:3000/weather'
const next =
  (city: string) =>
  ({ headers = {} }: RequestInit) =>
    GET(new NextRequest(address, { headers }), {
      params: Promise.resolve({ city }),
    })

test.each<[string, (init: RequestInit) => Promise<Response>]>([
  ['Hono, as a variable', (init) => fetch(`${honoUrl}/sold`, init)],
  ['Express, in its locals', (init) => fetch(`${expressUrl}/sold`, init)],
  ['Next, behind its context', next('ulm')],
  ['fetch, behind the request', (init) => sold(new Request(address, init))],
])('a handler of %s has the payment it works for', async (_, ask) => {
  seen = undefined
  const account = await fundedAccount(chain, price)
  const header = await signFor(account, await ask({}))
  const response = await ask({ headers: { 'PAYMENT-SIGNATURE': header } })
  expect(await response.text()).toBe('goods')
  expect(seen).toEqual({
    orderId: expect.any(String),
    offer: 'work',
    payer: account.address.toLowerCase(),
    amount: '0.01',
    transaction: undefined,
  })
  const { orderId = '' } = seen ?? {}
  expect((await orders.get({ orderId })).state).toBe('captured')
})

test('Next: notFound() of a handler reaches Next, and nothing is taken', async () => {
  const account = await fundedAccount(chain, price)
  const ask = next('atlantis')
  const header = await signFor(account, await ask({}))
  await expect(
    ask({ headers: { 'PAYMENT-SIGNATURE': header } }),
  ).rejects.toMatchObject({ digest: 'NEXT_HTTP_ERROR_FALLBACK;404' })
  expect(await balanceOf(account.address)).toBe(price)
})

test('Hono: an error that Hono answers is reported', async () => {
  const account = await fundedAccount(chain, price)
  const url = `${honoUrl}/fails`
  const header = await signFor(account, await fetch(url))
  const headers = { 'PAYMENT-SIGNATURE': header }
  const response = await fetch(url, { headers })
  expect([response.status, await response.text()]).toEqual([
    404,
    'no such city',
  ])
  expect(await balanceOf(account.address)).toBe(price)
  const reported = told.filter(({ name }) => name === 'x402.handler')
  expect(reported).toMatchObject([
    {
      attributes: {
        ok: false,
        status: 404,
        words: 'no such city',
        stack: expect.stringContaining('payments.test.ts'),
      },
    },
  ])
})
