import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import {
  type Account,
  createClient,
  type HttpTransportConfig,
  http,
} from 'viem'
import { afterAll, expect, test } from 'vitest'
import { startDatabase } from '../../../chain/support/database.js'
import { fundedAccount } from '../../../chain/support/desk.js'
import {
  openShop,
  type Shop,
  storedOrder,
} from '../../../chain/support/shop.js'
import { startSilentNode } from '../../../chain/support/silentNode.js'

const chain = await startDevChain({ blockTime: 0 })
const database = await startDatabase()
const folder = mkdtempSync(join(tmpdir(), 'countersign-silent-'))
afterAll(async () => {
  await Promise.all([chain.stop(), database.stop()])
  rmSync(folder, { recursive: true, force: true })
})

let stores = 0
const engines = {
  sqlite: async () => sqliteStore({ file: join(folder, `${stores++}.db`) }),
  postgres: async () =>
    postgresStore({
      connectionString: await database.create(`silent${stores++}`),
    }),
}

/** Slow machines take a while to get there. */
const patience = { timeout: 20_000 }

/** Longer than any test: whoever waits for it is stuck. */
const timeout = 600_000

/** A shop over a node that can fall silent, and how often it wrote. */
async function openSilentShop(
  store: PaymentStore,
  account: Account,
  transport: HttpTransportConfig = { timeout },
) {
  const node = await startSilentNode(chain.urls.http)
  let writes = 0
  const write: PaymentStore['write'] = (work, options) => {
    writes++
    return store.write(work, options)
  }
  const { url } = node
  const orders = createOrders({
    store: { ...store, write },
    seal: 'none',
    tokens: [
      {
        client: createReadClient({ chain: chain.chain, url, timeout }),
        token: chain.token,
      },
    ],
    wallets: [
      createClient({
        account,
        chain: chain.chain,
        transport: http(url, transport),
      }),
    ],
    policy: { pollingInterval: 50, capture: 'onAccept' },
  })
  const seller = account.address.toLowerCase() as Shop['seller']
  return { node, shop: { orders, store, seller }, writes: () => writes }
}

const silences: [string, (method: string) => boolean][] = [
  ['looks at the chain', () => true],
  ['reconciles', (method) => method === 'eth_getLogs'],
  ['rehearses a capture', (method) => /call|estimate|simulate/i.test(method)],
  ['sends a capture', (method) => method === 'eth_sendRawTransaction'],
]

const cases = silences.flatMap((silence) =>
  (['sqlite', 'postgres'] as const).map((engine) => [engine, ...silence]),
) as [keyof typeof engines, ...(typeof silences)[number]][]

test.each(cases)(
  'over %s, a worker that %s ends though its node never answers',
  async (engine, _, isSilent) => {
    const account = await fundedAccount(chain)
    const store = await engines[engine]()
    const { node, shop, writes } = await openSilentShop(store, account)
    const { id } = await storedOrder(chain, shop)
    node.silence(isSilent)
    const stop = new AbortController()
    const running = shop.orders.run({ signal: stop.signal })
    await expect.poll(node.waiting, patience).toBeGreaterThan(0)
    stop.abort()
    await running
    const written = writes()
    await expect.poll(node.waiting, patience).toBe(0)
    expect(writes()).toBe(written)

    // Whoever comes next finds nothing held, and does the rest.
    const next = await openShop(chain, { store, sellers: [account] })
    const { submitters } = await next.orders.health()
    expect(submitters).toMatchObject([{ lease: undefined }])
    expect(await next.orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
    })
    await shop.orders.close()
  },
)

test('a chain whose node never answers holds up no other chain', async () => {
  const account = await fundedAccount(chain)
  const silent = await startSilentNode(chain.urls.http)
  silent.silence(() => true)
  const other = { ...chain.chain, id: 8453 }
  const { url } = silent
  const client = createReadClient({ chain: other, url, timeout })
  const tokens = [1, 2, 3, 4, 5].map((n) => ({
    client,
    token: `0x${`${n}`.repeat(40)}` as const,
  }))
  const { http: here } = chain.urls
  const store = await engines.sqlite()
  const orders = createOrders({
    store,
    seal: 'none',
    tokens: [
      ...tokens,
      {
        client: createReadClient({ chain: chain.chain, url: here }),
        token: chain.token,
      },
    ],
    wallets: [
      createClient({ account, chain: other, transport: http(url) }),
      createClient({ account, chain: chain.chain, transport: http(here) }),
    ],
  })
  const policy = { capture: 'onAccept' } as const
  const desk = await openShop(chain, { store, sellers: [account], policy })
  const { id } = await storedOrder(chain, desk)
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  const stateOf = async () => (await orders.get({ orderId: id })).state
  await expect.poll(stateOf, patience).toBe('captured')
  stop.abort()
  await running
  await orders.close()
})

test('orders are closed though the node never answers who captures', async () => {
  const account = await fundedAccount(chain)
  const store = await engines.sqlite()
  const { node, shop } = await openSilentShop(store, account)
  const { id } = await storedOrder(chain, shop)
  node.silence((method) => method === 'eth_sendRawTransaction')
  const asked = shop.orders.capture({ orderId: id })
  await expect.poll(node.waiting, patience).toBeGreaterThan(0)
  await shop.orders.close()
  expect(await asked).toMatchObject({ status: 'unknown', resolvedBy: 'chain' })
  await expect.poll(node.waiting, patience).toBe(0)
})

test.each([false, true])(
  'a node that falls silent once is given no more time than its transport has [batch: %s]',
  async (batch) => {
    const account = await fundedAccount(chain)
    const store = await engines.sqlite()
    const transport = { timeout: 500, batch }
    const { node, shop } = await openSilentShop(store, account, transport)
    const { id } = await storedOrder(chain, shop)
    node.silence((method) => method === 'eth_sendRawTransaction')
    const asked = shop.orders.capture({ orderId: id, timeout: 20_000 })
    await expect.poll(node.waiting, patience).toBeGreaterThan(0)
    node.silence(() => false)
    expect(await asked).toMatchObject({ status: 'captured' })
    await shop.orders.close()
  },
)

test('a wallet that was asked and let go is not asked again', async () => {
  const [address] = chain.accounts.slice(-1).map((one) => one.address)
  if (!address) throw new Error('The chain has no account.')
  const account: Account = { address, type: 'json-rpc' }
  const store = await engines.sqlite()
  const { node, shop } = await openSilentShop(store, account)
  const { id } = await storedOrder(chain, shop)
  node.silence((method) => method === 'eth_sendTransaction')
  const asked = shop.orders.capture({ orderId: id })
  await expect.poll(node.waiting, patience).toBeGreaterThan(0)
  await shop.orders.close()
  expect(await asked).toMatchObject({
    status: 'unknown',
    resolvedBy: 'window',
    order: { state: 'capturing' },
  })
})

test('a worker whose signer never answers ends, and what it signs later is sent by nobody', async () => {
  const account = await fundedAccount(chain)
  const store = await engines.sqlite()
  let asked = 0
  let answer = () => {}
  const released = new Promise<void>((resolve) => {
    answer = resolve
  })
  const silent: typeof account = {
    ...account,
    signTransaction: async (...given) => {
      asked++
      await released
      return account.signTransaction(...given)
    },
  }
  const { shop } = await openSilentShop(store, silent)
  const { id } = await storedOrder(chain, shop)
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  await expect.poll(() => asked, patience).toBe(1)
  stop.abort()
  await running
  answer()
  const next = await openShop(chain, { store, sellers: [account] })
  const { submitters } = await next.orders.health()
  expect(submitters).toMatchObject([{ lease: undefined, openTransactions: 0 }])
  expect(await next.orders.get({ orderId: id })).toMatchObject({
    state: 'stored',
  })
  expect(await next.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
  const { address } = account
  expect(await chain.clients.public.getTransactionCount({ address })).toBe(1)
  await shop.orders.close()
})

test('a worker for many recipients leaves no warning of listeners', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  const sellers = await Promise.all(
    Array.from({ length: 11 }, () => fundedAccount(chain)),
  )
  const { orders } = await openShop(chain, {
    sellers,
    policy: { pollingInterval: 20 },
  })
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  await expect
    .poll(async () =>
      (await orders.health()).submitters.map(({ lease }) => lease),
    )
    .not.toContain(undefined)
  stop.abort()
  await running
  await orders.close()
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})
