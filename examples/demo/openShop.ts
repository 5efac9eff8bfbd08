import type { DevChain } from 'countersign/devchain'
import type { Orders, OrdersPolicy } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import {
  type Chain,
  type CustomTransport,
  createWalletClient,
  custom,
  type Hex,
  type PrivateKeyAccount,
  toHex,
  type WalletClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Keeping, keepOrders } from './keepOrders.js'
import { takeOrders } from './takeOrders.js'

/** A merchant's shop with an account of its own. */
export type Shop = {
  orders: Orders
  merchant: WalletClient<CustomTransport, Chain, PrivateKeyAccount>
  place: Place
  /** Ends what is being done, and deletes the orders. */
  close(): Promise<void>
}

/** All that a process needs to work for the shop. */
export type Place = {
  chain: Chain
  url: string
  token: DevChain['token']
  keeping: Keeping
  /** What opens the signatures on record. */
  sealKey: Hex
  /** What the merchant's transactions are signed with. */
  merchantKey: Hex
}

type OpenShopParameters = {
  policy?: OrdersPolicy | undefined
  /** A PostgreSQL to keep the orders in. Default: a file. */
  database?: string | undefined
}

/** Opens a shop whose orders are kept sealed, and go with it. */
export async function openShop(
  chain: DevChain,
  { policy = {}, database }: OpenShopParameters = {},
): Promise<Shop> {
  const { keeping, remove } = keepOrders(database)
  const place: Place = {
    chain: chain.chain,
    url: chain.urls.http,
    token: chain.token,
    keeping,
    sealKey: toHex(crypto.getRandomValues(new Uint8Array(32))),
    merchantKey: generatePrivateKey(),
  }
  const node = createReadClient({ url: place.url, chain: place.chain })
  const merchant = createWalletClient({
    account: privateKeyToAccount(place.merchantKey),
    chain: place.chain,
    // What is sent in one tick travels together.
    transport: custom(node, { retryCount: 0 }),
  })
  const { address } = merchant.account
  await chain.clients.test.setBalance({ address, value: 10n ** 20n })
  const orders = takeOrders(place, merchant, policy)
  return {
    orders,
    merchant,
    place,
    close: async () => {
      await orders.close()
      await remove()
    },
  }
}

/** Has the shop's worker do all that is due, until it is told to stop. */
export function startWorker({ orders }: Pick<Shop, 'orders'>): {
  stop(): Promise<void>
} {
  const control = new AbortController()
  const running = orders.run({ signal: control.signal })
  return {
    stop: async () => {
      control.abort()
      await running
    },
  }
}
