import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { sealer } from 'countersign/store'
import {
  type Account,
  type Chain,
  type Client,
  createClient,
  custom,
  defineChain,
  type LocalAccount,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Engine, ShopPlan } from './plan.js'

/** What a merchant runs: orders on a database, with the stores in between. */
export type Shop = {
  orders: ReturnType<typeof createOrders>
  store: PaymentStore
  client: Client
}

export type Wrapping = {
  store?: (store: PaymentStore) => PaymentStore
  wallet?: (account: LocalAccount) => LocalAccount
  kinds?: CreateOrdersParameters['kinds']
}

/** The same shop in every process; a child wraps what it passes. */
export function openShop(plan: ShopPlan, wrap: Wrapping = {}): Shop {
  const { engine, account, url, token, keys, policy } = plan
  const opened = openStore(engine)
  const store = wrap.store?.(opened) ?? opened
  const chain = chainAt(url)
  const client = createReadClient({ url, chain })
  const request = (asked: never) => client.request(asked)
  const wallets = keys.map((key) => {
    const local = privateKeyToAccount(key)
    const signer: Account =
      account === 'local'
        ? (wrap.wallet?.(local) ?? local)
        : { address: local.address, type: 'json-rpc' }
    return createClient({
      account: signer,
      chain,
      transport: custom({ request }, { retryCount: 0 }),
    })
  })
  const orders = createOrders({
    store,
    tokens: [{ client, token }],
    wallets,
    recipients: plan.recipients,
    shop: plan.shop,
    kinds: wrap.kinds,
    seal: sealLikeAll(),
    policy: { pollingInterval: 50, relayCancellations: 'always', ...policy },
  })
  return { orders, store, client }
}

export function openStore(engine: Engine): PaymentStore {
  return 'sqlite' in engine
    ? sqliteStore({ file: engine.sqlite })
    : postgresStore({
        connectionString: engine.postgres,
        schema: engine.schema,
      })
}

/** Every process has the same key. */
export function sealLikeAll(): ReturnType<typeof sealer> {
  const key = Uint8Array.from({ length: 32 }, (_, index) => index * 7)
  return sealer({ keys: { test: key }, current: 'test' })
}

function chainAt(url: string): Chain {
  return defineChain({
    id: 31337,
    name: 'Development chain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
}
