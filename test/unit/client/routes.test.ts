import { readFileSync } from 'node:fs'
import type { Cancellation, Wallet } from 'countersign'
import {
  type BuyerClient,
  createSubscriberClient,
  createSubscriptionsClient,
  type MerchantClient,
  type SubscriberClient,
  type SubscriptionsClient,
} from 'countersign/client'
import {
  buildSpendPermission,
  type Subscriptions,
} from 'countersign/subscriptions'
import { samplePayment } from 'countersign/testing'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { toJson } from '../../../src/core/toJson.js'
import { findRoute } from '../../../src/http/routes/findRoute.js'
import { createRoutes } from '../../../src/http/routes/routes.js'
import { createBodySchemas } from '../../../src/http/schemas/bodySchemas.js'
import { clientsOf } from '../support/clientServer.js'

// No route is run here, so that there are some is enough.
const routes = createRoutes('/payments', {} as Subscriptions)
const bodies = createBodySchemas()
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const wallet: Wallet = { account, request: async () => undefined }
const payment = samplePayment({ from: account.address })
const { domain, message } = payment
const signature = `0x${'ab'.repeat(65)}` as const
const cancellation: Cancellation = {
  primaryType: 'CancelAuthorization',
  domain,
  message: { authorizer: message.from, nonce: message.nonce },
}

const permission = buildSpendPermission({
  chainId: 8453,
  account: account.address,
  spender: message.to,
  token: domain.verifyingContract,
  allowance: '9.99',
  period: 3600n,
  start: 5n,
})

/** Answers as the routes do, so far as a method reads the answer. */
const answers: Record<string, unknown> = {
  getPayment: { payment },
  getCancellation: { cancellation },
  getHealth: { chains: [{ chainId: 1, block: '9' }] },
  audit: { ok: true, destinations: [] },
  getSubscription: { permission },
}

const stream = 'event: end\ndata: {}\n\n'

const asked = new Set<string>()
/** Method and path of the routes that the last call asked. */
let paths: string[] = []

/** Holds each request to the route's own schemas, and notes the route. */
async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const found = findRoute(routes, '/payments', pathname)
  const route = found.routes.find(({ method }) => method === request.method)
  if (!route) throw new Error(`no route for ${request.method} ${pathname}`)
  asked.add(route.name)
  paths.push(`${route.method} ${route.path}`)
  const text = await request.text()
  if (route.body) bodies[route.body].parse(JSON.parse(text))
  route.query?.parse(Object.fromEntries(searchParams))
  const headers = [...request.headers.keys()]
  for (const name of Object.keys(route.headers ?? {}))
    expect(headers).toContain(name.toLowerCase())
  return pathname.endsWith('/events')
    ? new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    : new Response(toJson(answers[route.name] ?? {}))
}

const connection = { url: 'https://shop.test/payments', fetch: answer }
const { buyer, merchant } = clientsOf(connection)
const subscriptions = createSubscriptionsClient(connection)
const expected = {
  chainId: domain.chainId,
  token: domain.verifyingContract,
  name: domain.name,
  version: domain.version,
}
const order = { orderId: 'one' }
const subscription = { subscriptionId: 'sub/1' }
const subscriber = createSubscriberClient({
  ...connection,
  ...subscription,
  buyerToken: 'ab'.repeat(32),
})
const refund = { ...order, refundId: 'r/1' }

// Complete by type: a new method is an error here until it is called.
const ofBuyer: Record<keyof BuyerClient, () => unknown> = {
  get: () => buyer.get(),
  requestPayment: () => buyer.requestPayment({ payer: account.address }),
  sendPayment: () => buyer.sendPayment({ ...payment, signature }),
  pay: () =>
    buyer.pay(wallet, {
      expect: {
        ...expected,
        to: message.to,
        amount: '12.50',
        maxWindow: 2n ** 64n,
      },
    }),
  follow: () => buyer.follow({ after: '1' }).next(),
  cancellationToSign: () => buyer.cancellationToSign(),
  sendCancellation: () =>
    buyer.sendCancellation({ ...cancellation, signature }),
  cancel: () => buyer.cancel(wallet, { expect: expected }),
}
const ofMerchant: Record<keyof MerchantClient, () => unknown> = {
  draft: () =>
    merchant.draft({ amount: '12.50', window: 900n, metadata: { cart: 7 } }),
  list: () =>
    merchant
      .list({ states: ['stored', 'captured'], chainId: 1, limit: 5 })
      .next(),
  get: () => merchant.get(order),
  capture: () => merchant.capture({ ...order, amount: '2.50', wait: 20 }),
  void: () => merchant.void(order),
  reauthorize: () => merchant.reauthorize({ ...order, window: 900n }),
  approveCancellation: () => merchant.approveCancellation(order),
  refund: () =>
    merchant.refund({ ...refund, amount: '2.50', reason: 'duplicate' }),
  listRefunds: () => merchant.listRefunds(order),
  getRefund: () => merchant.getRefund(refund),
  refundToSign: () => merchant.refundToSign({ ...refund, window: 900n }),
  acceptRefund: () => merchant.acceptRefund({ ...refund, signature }),
  reconcile: () => merchant.reconcile({ fromBlock: 7n }),
  audit: () => merchant.audit({ fromBlock: 7n }),
  ledger: () =>
    merchant.ledger({ format: 'hledger', from: 1n, to: 2n, transfers: true }),
  health: () => merchant.health(),
  follow: () => merchant.follow({ orderId: 'one', after: '7' }).next(),
  suspend: () => merchant.suspend(),
  resume: () => merchant.resume(),
  reseal: () => merchant.reseal(),
  openApi: () => merchant.openApi(),
}

const ofSubscriptions: Record<keyof SubscriptionsClient, () => unknown> = {
  draft: () =>
    subscriptions.draft({
      account: account.address,
      amount: '9.99',
      period: 3600n,
      start: 5n,
      periods: 3,
      metadata: { plan: 7 },
    }),
  requestPermission: () => subscriptions.requestPermission(subscription),
  accept: () => subscriptions.accept({ ...subscription, signature }),
  get: () => subscriptions.get(subscription),
  list: () =>
    subscriptions
      .list({ payer: account.address, before: '7', limit: 5 })
      .next(),
  charge: () =>
    subscriptions.charge({ ...subscription, chargeId: 'a', amount: '2.50' }),
  listCharges: () => subscriptions.listCharges(subscription).next(),
  issueBuyerToken: () => subscriptions.issueBuyerToken(subscription),
  cancel: () => subscriptions.cancel(subscription),
  restart: () => subscriptions.restart(subscription),
}

const ofSubscriber: Record<keyof SubscriberClient, () => unknown> = {
  get: () => subscriber.get(),
  accept: () => subscriber.accept({ signature }),
  cancel: () => subscriber.cancel(),
}

test('every route has a method, which asks as the route wants it', async () => {
  for (const call of Object.values({ ...ofBuyer })) await call()
  for (const call of Object.values({ ...ofMerchant })) await call()
  for (const call of Object.values({ ...ofSubscriptions })) await call()
  for (const call of Object.values({ ...ofSubscriber })) await call()
  // Probes are sent by orchestrators.
  const forClients = routes.filter(({ who }) => who !== 'prober')
  expect([...asked].sort()).toEqual(forClients.map(({ name }) => name).sort())
})

/** The rows of the guide that name a route and a method, in their sections. */
function readRows() {
  const guide = readFileSync('docs/http.md', 'utf8')
  return guide.split(/^## /m).flatMap((section) => {
    const calls = section.startsWith('Buyers')
      ? ofBuyer
      : section.startsWith('Subscriptions')
        ? ofSubscriptions
        : section.startsWith('Subscribers')
          ? ofSubscriber
          : ofMerchant
    const rows = section.matchAll(/^\| `(GET|POST) (\S+)` \| `(\w+)` \|/gm)
    return [...rows].map(([, verb = '', path = '', name = '']) => ({
      calls: calls as Record<string, () => unknown>,
      verb,
      path,
      name,
    }))
  })
}

test('the guide names each route with its method, and each method', async () => {
  const rows = readRows()
  for (const { calls, verb, path, name } of rows) {
    paths = []
    await calls[name]?.()
    const isAsked = paths.some((one) => {
      const [method, whole = ''] = one.split(' ')
      return method === verb && whole.endsWith(path.replace('…', ''))
    })
    expect([name, verb, path, isAsked]).toEqual([name, verb, path, true])
  }
  const named = (calls: object) =>
    rows.filter((row) => row.calls === calls).map(({ name }) => name)
  const told = (calls: object, ...words: string[]) =>
    expect([...named(calls), ...words].sort()).toEqual(
      Object.keys(calls).sort(),
    )
  // These are named in the sentences between the tables.
  told(ofBuyer, 'pay', 'cancel')
  told(ofMerchant, 'openApi')
  told(ofSubscriptions, 'requestPermission')
  told(ofSubscriber)
})
