import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import {
  type BuyerClient,
  type ConnectionParameters,
  createBuyerClient,
  createMerchantClient,
  type MerchantClient,
} from 'countersign/client'
import { createPaymentHandler } from 'countersign/http'
import type { Orders } from 'countersign/orders'
import { onTestFinished } from 'vitest'
import { recipientOf } from './fakeOrders.js'
import { stubOrders, token } from './httpStub.js'

type Serve = (request: Request) => Response | Promise<Response>

export type Served = {
  buyer: BuyerClient
  merchant: MerchantClient
  /** Method and path of each request that arrived. */
  asked: string[]
  requests: Request[]
  /** The clients' failures after which they tried again. */
  failures: string[]
  url: string
  /** Cuts all connections. */
  cut: () => void
}

/** Clients of something that answers behind a server of Node. */
export async function serveTo(
  serve: Serve,
  connection: Partial<ConnectionParameters> = {},
): Promise<Served> {
  const asked: string[] = []
  const requests: Request[] = []
  const server = createServer(
    getRequestListener((request) => {
      const { pathname, search } = new URL(request.url)
      asked.push(`${request.method} ${pathname}${search}`)
      requests.push(request)
      return serve(request)
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/payments`
  const cut = () => server.closeAllConnections()
  return { ...clientsOf({ url, ...connection }), asked, requests, url, cut }
}

/** Clients of the one order, and of its merchant. */
export function clientsOf(
  connection: ConnectionParameters,
): Pick<Served, 'buyer' | 'merchant' | 'failures'> {
  const failures: string[] = []
  const given: ConnectionParameters = {
    onRetry: ({ name, details: { reason, status } }) =>
      failures.push(`${name} ${reason ?? status ?? 'no answer'}`),
    ...connection,
  }
  return {
    buyer: createBuyerClient({ ...given, orderId: 'one', buyerToken: token }),
    merchant: createMerchantClient({ ...given, key: 'the key' }),
    failures,
  }
}

/** The handler of orders that do what a test says. */
export const handlerOf = (verbs: Partial<Orders>) =>
  createPaymentHandler(stubOrders(verbs), {
    basePath: '/payments',
    authorize: ({ headers }) =>
      headers.get('authorization') === 'Bearer the key'
        ? { recipients: [recipientOf('a')], refunds: { perDay: '100' } }
        : undefined,
  })
