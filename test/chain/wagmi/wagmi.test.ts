import {
  environmentManager,
  MutationObserver,
  QueryClient,
  QueryObserver,
} from '@tanstack/query-core'
import { type Config, connect, createConfig, mock } from '@wagmi/core'
import type { BuyerState } from 'countersign/client'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import type { Orders } from 'countersign/orders'
import {
  cancelPayment,
  getOrder,
  getOrderQueryKey,
  getOrderQueryOptions,
  signPayment,
  signPaymentMutationOptions,
} from 'countersign/wagmi'
import { http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop } from '../support/shop.js'

let chain: DevChain
let orders: Orders
let config: Config
let work: Promise<void>
const stopping = new AbortController()
let fetch: (request: Request) => Promise<Response>
beforeAll(async () => {
  // As in a browser: on servers, queries do not read again.
  environmentManager.setIsServer(() => false)
  chain = await startDevChain()
  ;({ orders } = await openShop(chain))
  work = orders.run({ signal: stopping.signal })
  fetch = createPaymentHandler(orders, {
    basePath: '/payments',
    authorize: () => undefined,
  })
  const connector = mock({ accounts: [chain.clients.payer.account.address] })
  config = createConfig({
    chains: [chain.chain],
    connectors: [connector],
    transports: { [chain.chain.id]: http(chain.urls.http) },
  })
})
afterAll(async () => {
  environmentManager.setIsServer(() => true)
  stopping.abort()
  await work
  await orders.close()
  await chain.stop()
})

async function openOrder(amount = '12.50') {
  const { order, buyerToken } = await orders.draft({ amount })
  return {
    connection: {
      url: 'https://shop.example/payments',
      orderId: order.id,
      buyerToken,
      fetch,
    },
    expect: {
      chainId: 31337,
      token: chain.token,
      to: order.recipient,
      amount,
    },
  }
}

test('without a connected wallet nothing is signed', async () => {
  const { connection, expect: offer } = await openOrder()
  await expect(
    signPayment(config, { ...connection, expect: offer }),
  ).rejects.toMatchObject({ name: 'ConnectorNotConnectedError' })
  expect((await getOrder(config, connection)).state).toBe('drafted')
})

test('the wallet that is connected to wagmi signs what the page expects, and no other amount', async () => {
  const [connector] = config.connectors
  if (connector) await connect(config, { connector })
  const { connection, expect: offer } = await openOrder()
  await expect(
    signPayment(config, { ...connection, expect: { ...offer, amount: '1' } }),
  ).rejects.toMatchObject({ name: 'UnexpectedPaymentError' })
  const stored = await signPayment(config, { ...connection, expect: offer })
  expect(stored).toMatchObject({ state: 'stored', chainId: 31337 })
  const { chainId, token } = offer
  const { order, call } = await cancelPayment(config, {
    ...connection,
    expect: { chainId, token },
  })
  expect(order.state).toBe('voided')
  expect(call?.to).toBe(token.toLowerCase())
})

test('a query follows an order from its draft to its capture; a mutation signs it in between', async () => {
  const { connection, expect: offer } = await openOrder('3.00')
  const queries = new QueryClient()
  const options = getOrderQueryOptions(config, {
    ...connection,
    query: { refetchInterval: 50 },
  })
  const seen: (string | undefined)[] = []
  const observer = new QueryObserver(queries, options)
  const unsubscribe = observer.subscribe(({ data }) => {
    if (seen.at(-1) !== data?.state) seen.push(data?.state)
  })
  await expect.poll(() => seen).toContain('drafted')
  const paying = new MutationObserver(
    queries,
    signPaymentMutationOptions(config),
  )
  await paying.mutate({ ...connection, expect: offer })
  await expect.poll(() => seen).toContain('stored')
  await orders.capture({ orderId: connection.orderId })
  await expect.poll(() => seen.at(-1)).toBe('captured')
  unsubscribe()

  // Caches are shown and stored, so they must contain no secret.
  const { orderId, url, buyerToken } = connection
  expect(options.queryKey).toEqual(getOrderQueryKey({ url, orderId }))
  expect(JSON.stringify(options.queryKey)).not.toContain(buyerToken)
  expect(queries.getQueryData<BuyerState>(options.queryKey)?.state).toBe(
    'captured',
  )
})

test('a query waits for its order, and stops when the shop has no such order', async () => {
  const queries = new QueryClient({
    defaultOptions: { queries: { retry: false } },
  })
  expect(getOrderQueryOptions(config, {}).enabled).toBe(false)
  const { connection } = await openOrder()
  const wrong = { ...connection, buyerToken: 'ab'.repeat(32) }
  const options = getOrderQueryOptions(config, wrong)
  const observer = new QueryObserver(queries, options)
  const unsubscribe = observer.subscribe(() => {})
  await expect
    .poll(() => observer.getCurrentResult().error)
    .toMatchObject({ reason: 'orderNotFound' })
  const query = queries.getQueryCache().find({ queryKey: options.queryKey })
  const interval = options.refetchInterval
  expect(
    typeof interval === 'function' && query && interval(query as never),
  ).toBe(false)
  unsubscribe()
})
