import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type SpendControls, x402Client } from '@x402/core/client'
import { toClientEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { channels, createChannels } from 'countersign/channels'
import {
  createX402Gate,
  expressPayment,
  honoPayment,
  nextPayment,
  type X402ChannelOffer,
  type X402Payment,
  type X402Variables,
} from 'countersign/x402'
import express from 'express'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { NextRequest, NextResponse } from 'next/server.js'
import type { PrivateKeyAccount } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { openShop } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  requiredBy,
  serveApp,
  settlementOf,
} from '../../support/x402Desk.js'

const metered: X402ChannelOffer = {
  flow: 'channel',
  atMost: '0.01',
  deposit: '10.00',
  withdrawDelay: 900,
}
const shop = await openShop(chain, { kinds: [channels()] })
const kept = createChannels({ orders: shop.orders })
const gate = createX402Gate({
  orders: shop.orders,
  channels: kept,
  offers: { once: { amount: '0.01' }, metered },
})

const exact = (account: PrivateKeyAccount) => new ExactEvmScheme(account)
const channel = (account: PrivateKeyAccount) =>
  new BatchSettlementEvmScheme(
    toClientEvmSigner(account, {
      readContract: (given) =>
        readContract(chain.clients.public, given as never),
    }),
  )

const payingWith = (
  client: ReturnType<typeof exact> | ReturnType<typeof channel>,
  spendControls: SpendControls = { allowedAssets: true },
) =>
  wrapFetchWithPayment(
    fetch,
    x402Client.fromConfig({
      schemes: [{ network: 'eip155:*', client }],
      spendControls,
    }),
  )

let runs = 0
const work = (payment: X402Payment | undefined) => {
  runs += 1
  payment?.charge?.('0.002')
  return { offer: payment?.offer }
}

const origin = 'https://page.example'
const allowHeaders = ['PAYMENT-SIGNATURE', 'Access-Control-Expose-Headers']
const exposeHeaders = ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE']
const both = ['once', 'metered']

const hono = new Hono<{ Variables: X402Variables }>()
hono.use('/work', cors({ origin, allowHeaders, exposeHeaders }))
hono.use('/work', honoPayment(gate, both))
hono.get('/work', (context) => context.json(work(context.var.x402Payment)))

const app = express()
app.use('/work', (request, response, next) => {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-headers', allowHeaders.join())
  response.setHeader('access-control-expose-headers', exposeHeaders.join())
  if (request.method === 'OPTIONS') response.status(204).end()
  else next()
})
app.use('/work', expressPayment(gate, both), (_, response) => {
  response.json(work(response.locals.x402Payment))
})
const server = await new Promise<Server>((resolve) => {
  const started = app.listen(0, '127.0.0.1', () => resolve(started))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const { port } = server.address() as AddressInfo

const route = nextPayment(
  gate,
  both,
  async (_: NextRequest, __: object, payment) =>
    NextResponse.json(work(payment)),
)

const urls: readonly (readonly [string, string])[] = [
  ['Hono', await serveApp(hono.fetch)],
  ['Express', `http://127.0.0.1:${port}`],
  [
    'Next',
    await serveApp(({ url, method, headers }) =>
      route(new NextRequest(url, { method, headers }), {}),
    ),
  ],
]

test.each(urls)(
  '%s: a client that knows only exact payments pays the one, a client that knows only channels the other',
  async (_, url) => {
    const one = await fundedAccount(chain, 10_000n)
    const once = await payingWith(exact(one))(`${url}/work`)
    expect(await once.json()).toEqual({ offer: 'once' })
    expect(await balanceOf(one.address)).toBe(0n)
    const other = await fundedAccount(chain, 10_000_000n)
    const pay = payingWith(channel(other))
    expect(await (await pay(`${url}/work?1`)).json()).toEqual({
      offer: 'metered',
    })
    const second = await pay(`${url}/work?2`)
    expect(settlementOf(second).extra).toMatchObject({
      chargedAmount: '2000',
      channelState: { chargedCumulativeAmount: '4000' },
    })
    expect(await balanceOf(other.address)).toBe(0n)
  },
)

test.each(urls)('%s: HEAD runs nothing and shows the price', async (_, url) => {
  const before = runs
  const head = await fetch(`${url}/work`, { method: 'HEAD' })
  expect(head.status).toBe(402)
  expect(requiredBy(head).accepts).toHaveLength(2)
  expect(runs).toBe(before)
})

test.each(urls.slice(0, 2))(
  '%s: a browser may send the headers of the stock client, if CORS is in front of the gate',
  async (_, url) => {
    const before = runs
    const preflight = await fetch(`${url}/work`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': allowHeaders.join(),
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('payment-required')).toBeNull()
    expect(preflight.headers.get('access-control-allow-headers')).toBe(
      allowHeaders.join(),
    )
    const asked = await fetch(`${url}/work`, { headers: { origin } })
    expect(asked.headers.get('access-control-expose-headers')).toBe(
      exposeHeaders.join(),
    )
    expect(runs).toBe(before)
  },
)

test.each([
  ['five times its limit for one payment', '1000000', 5_000_000n],
  ['five prices, with a limit of one price', '10000', 50_000n],
])(
  'a stock client deposits %s, though more is asked for',
  async (_, maxAmountPerPayment, deposited) => {
    const account = await fundedAccount(chain, 10_000_000n)
    const pay = payingWith(channel(account), {
      allowedAssets: [
        { network: 'eip155:31337', asset: chain.token, maxAmountPerPayment },
      ],
    })
    const [, url] = urls[0] ?? []
    expect((await pay(`${url}/work`)).status).toBe(200)
    const [opened] = (await kept.list({ payer: account.address })).channels
    expect(opened).toMatchObject({ balance: deposited, charged: 2_000n })
  },
)
