import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { checkout } from 'countersign/checkout'
import {
  type BuyerClient,
  type BuyerNews,
  createBuyerClient,
  createMerchantClient,
  type MerchantClient,
} from 'countersign/client'
import { startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import type { CreateOrdersParameters } from 'countersign/orders'
import { createClient, http, type PrivateKeyAccount } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { openShop, type Shop } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

type Served = Shop & {
  merchant: MerchantClient
  /** Drafts an order over HTTP, for a buyer who has enough. */
  sell(orderId: string): Promise<{ buyer: BuyerClient; wallet: Wallet }>
  /** The worker, until the test ends. */
  work(): void
}

type Wallet = ReturnType<typeof walletOf>

const walletOf = (account: PrivateKeyAccount) =>
  createClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })

/** A shop behind a server of Node, below a prefix, and its clients. */
async function openServer(
  policy: CreateOrdersParameters['policy'] = {},
): Promise<Served> {
  const shop = await openShop(chain, { policy })
  const { orders, seller } = shop
  const handle = createPaymentHandler(orders, {
    basePath: '/any/prefix',
    authorize: ({ headers }) =>
      headers.get('authorization') === 'Bearer the key'
        ? { recipients: [seller], refunds: { perDay: '100' } }
        : undefined,
  })
  const server = createServer(getRequestListener(handle))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const stop = new AbortController()
  onTestFinished(async () => {
    stop.abort()
    server.closeAllConnections()
    server.close()
    await orders.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/any/prefix`
  const merchant = createMerchantClient({ url, key: 'the key' })
  return {
    ...shop,
    merchant,
    sell: async (idempotencyKey) => {
      const drafted = await merchant.draft({ idempotencyKey, amount: '12.50' })
      const { order, buyerToken } = drafted
      const account = await fundedAccount(chain, 12_500_000n)
      return {
        buyer: createBuyerClient({ url, orderId: order.id, buyerToken }),
        wallet: walletOf(account),
      }
    },
    work: () => {
      orders.run({ signal: stop.signal })
    },
  }
}

const expected = (seller: Shop['seller']) => ({
  chainId: 31337,
  token: chain.token,
  to: seller,
  amount: '12.50',
})

test('an order is sold, followed, audited and refunded by the two clients', async () => {
  const { merchant, sell, work, seller } = await openServer({
    fulfilAt: 'included',
  })
  work()
  const { buyer, wallet } = await sell('a/b')
  const seen: BuyerNews[] = []
  const following = (async () => {
    for await (const news of buyer.follow()) seen.push(news)
  })()
  const events = merchant.follow({ orderId: 'a/b', after: '0' })

  const paid = await buyer.pay(wallet, { expect: expected(seller) })
  expect(paid.state).toBe('stored')
  await expect(
    buyer.pay(wallet, { expect: expected(seller) }),
  ).rejects.toMatchObject({ name: 'ProblemError', reason: 'notOpen' })
  const captured = await merchant.capture({ orderId: 'a/b', wait: 25 })
  expect(captured.status).toBe('captured')
  await following
  expect(seen.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['status', 'accepted', 'captured']),
  )
  expect(seen.at(-1)?.order.transaction?.hash).toBe(
    'proof' in captured && captured.proof.transactionHash,
  )
  for await (const { type } of events) if (type === 'fulfil') break

  const { chains } = await merchant.health()
  const block = BigInt(chains[0]?.block ?? 0)
  const report = await merchant.audit({ fromBlock: 0n, blocks: 2n })
  expect(report.ok).toBe(true)
  expect(report.destinations[0]).toMatchObject({
    fromBlock: '0',
    captured: { count: 1, value: '12500000' },
  })
  expect(BigInt(report.destinations[0]?.toBlock ?? 0)).toBeGreaterThanOrEqual(
    block,
  )
  const books = await merchant.ledger({ format: 'jsonLines' })
  expect(await new Response(books).text()).toContain('"orderId":"a/b"')

  const { refund } = await merchant.refund({
    orderId: 'a/b',
    refundId: 'return/7',
    amount: '2.50',
  })
  expect(refund.amount).toBe('2.5')
  const again = { orderId: 'a/b', refundId: 'return/7' }
  expect((await merchant.getRefund(again)).value).toBe('2500000')
  const pages = []
  for await (const { orders } of merchant.list({ limit: 1 }))
    pages.push(orders.map(({ id }) => id))
  expect(pages.flat()).toEqual(['a/b'])
})

test('the wallet is asked for its account only where the order names no payer', async () => {
  const { sell, seller } = await openServer()
  const { buyer, wallet } = await sell('one')
  const asked: string[] = []
  const provider = {
    request: async ({ method, params }: { method: string; params: never }) => {
      asked.push(method)
      if (method === 'eth_requestAccounts') return [wallet.account.address]
      if (method === 'eth_chainId') return '0x7a69'
      return wallet.account.signTypedData(JSON.parse(params[1]))
    },
  }
  const { state } = await buyer.pay(provider, { expect: expected(seller) })
  expect(state).toBe('stored')
  expect(asked).toEqual([
    'eth_requestAccounts',
    'eth_chainId',
    'eth_signTypedData_v4',
  ])
})

test('a payment that the page does not expect is not signed', async () => {
  const { sell, seller } = await openServer()
  const { buyer, wallet } = await sell('one')
  const expect12 = { ...expected(seller), amount: '12.51' }
  await expect(buyer.pay(wallet, { expect: expect12 })).rejects.toMatchObject({
    name: 'UnexpectedPaymentError',
  })
  const other = { expect: expected(seller), kind: checkout }
  await expect(buyer.pay(wallet, other)).rejects.toMatchObject({
    name: 'InvalidFieldError',
  })
  expect((await buyer.get()).state).toBe('drafted')
})

test('a cancellation is handed in, and its call is the buyer’s to send', async () => {
  const { sell, seller } = await openServer()
  const { buyer, wallet } = await sell('one')
  await buyer.pay(wallet, { expect: expected(seller) })
  const offer = { chainId: 31337, token: chain.token }
  const { order, call } = await buyer.cancel(wallet, { expect: offer })
  expect(order.state).toBe('voided')
  expect(call?.to).toBe(chain.token.toLowerCase())
  const states: string[] = []
  for await (const { order } of buyer.follow({ until: ['voided'] }))
    states.push(order.state)
  expect(states).toEqual(['voided'])
})

test('a merchant who relays sends the cancellation', async () => {
  const { sell, seller, work } = await openServer({
    relayCancellations: 'always',
  })
  work()
  const { buyer, wallet } = await sell('one')
  await buyer.pay(wallet, { expect: expected(seller) })
  const offer = { chainId: 31337, token: chain.token }
  const { call } = await buyer.cancel(wallet, { expect: offer })
  expect(call).toBeUndefined()
  let last: BuyerNews | undefined
  const canceled = buyer.follow({ until: ['canceled'] })
  for await (const news of canceled) last = news
  expect(last?.order.state).toBe('canceled')
})
