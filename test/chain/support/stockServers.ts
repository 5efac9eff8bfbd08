import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import {
  type FacilitatorClient,
  HTTPFacilitatorClient,
  x402ResourceServer,
} from '@x402/core/server'
import { ExactEvmScheme as ExactClient } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server'
import { paymentMiddleware as expressPayments } from '@x402/express'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { paymentMiddleware as honoPayments } from '@x402/hono'
import type { DevChain } from 'countersign/devchain'
import express from 'express'
import { Hono } from 'hono'
import { type Address, getAddress, type PrivateKeyAccount } from 'viem'
import { network, price } from './stockFacilitator.js'

/** A server on loopback, and the requests it got. */
export type Listening = { url: string; close: () => Promise<void> }

/** Serves on a free port of loopback. */
async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Serves a fetch-standard handler. */
export function listenFetch(
  handle: (request: Request) => Promise<Response> | Response,
): Promise<Listening> {
  return listen(getRequestListener(handle))
}

/** The stock client of a facilitator on loopback, with a key. */
export function facilitatorAt(
  url: string,
  key = 'one',
  timeoutMs?: number,
): HTTPFacilitatorClient {
  const headers = { authorization: key }
  return new HTTPFacilitatorClient({
    url,
    ...(timeoutMs ? { timeoutMs } : {}),
    createAuthHeaders: async () => ({
      verify: headers,
      settle: headers,
      supported: headers,
    }),
  })
}

export type Flow = 'authorization' | 'upfront'

type Api = {
  facilitator: FacilitatorClient
  payTo: Address
  chain: DevChain
  flow: Flow
  /** The work that is sold. */
  work: () => void | Promise<void>
}

const routesOf = ({ payTo, chain, flow }: Api) =>
  ({
    'GET /weather': {
      accepts: {
        scheme: 'exact',
        network,
        payTo: getAddress(payTo),
        maxTimeoutSeconds: 300,
        price: {
          amount: String(price),
          asset: getAddress(chain.token),
          extra: { name: 'USD Coin', version: '2' },
        },
        ...(flow === 'upfront' ? { extra: { paymentFlow: flow } } : {}),
      },
    },
  }) as const

const resourceServer = ({ facilitator }: Api) =>
  new x402ResourceServer(facilitator).register(network, new ExactServer())

/** A paid API behind the stock middleware, by its framework. */
export const stockApis: Readonly<
  Record<'hono' | 'express', (api: Api) => Promise<Listening>>
> = {
  hono: (api) => {
    const app = new Hono()
    app.use(honoPayments(routesOf(api), resourceServer(api)))
    app.get('/weather', async (context) => {
      await api.work()
      return context.json({ weather: 'sunny' })
    })
    return listenFetch((request) => app.fetch(request))
  },
  express: (api) => {
    const app = express()
    app.use(expressPayments(routesOf(api), resourceServer(api)))
    app.get('/weather', async (_, response) => {
      await api.work()
      response.json({ weather: 'sunny' })
    })
    return listen(app)
  },
}

/** The stock client: fetches, and pays what is asked for. */
export function payingFetch(
  payer: PrivateKeyAccount,
  send: typeof fetch = fetch,
): typeof fetch {
  const client = new x402Client()
    .register(network, new ExactClient(payer))
    .setSpendControls(false)
  return wrapFetchWithPayment(send, client) as typeof fetch
}

/** The payment header a stock client sent, to send it once more. */
export function keepPayments(): { send: typeof fetch; headers: string[] } {
  const headers: string[] = []
  const send: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get('payment-signature')
    if (header) headers.push(header)
    return fetch(request)
  }
  return { send, headers }
}

/** What an answer says of its payment. */
export function paidWith(response: Response) {
  const header = response.headers.get('payment-response') ?? 'bnVsbA=='
  return JSON.parse(Buffer.from(header, 'base64').toString())
}
