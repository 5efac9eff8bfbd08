import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { DevChain } from 'countersign/devchain'
import {
  createOrders,
  type Orders,
  type OrdersPolicy,
  type PaymentStore,
  sealer,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import type { Client } from 'viem'

export type Shop = {
  orders: Orders
  /** Where its orders are kept, and what opens their signatures. */
  place: Place
  /** Ends what is being done, and deletes the orders. */
  close(): Promise<void>
}

export type Place = { file: string; key: Uint8Array }

/** Opens the merchant's shop: sealed, in a file that goes with it. */
export function openShop(chain: DevChain, policy: OrdersPolicy = {}): Shop {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const file = join(folder, 'orders.db')
  const key = crypto.getRandomValues(new Uint8Array(32))
  const orders = takeOrders({
    store: sqliteStore({ file }),
    key,
    token: chain.token,
    wallet: chain.clients.merchant,
    url: chain.urls.http,
    policy,
  })
  return {
    orders,
    place: { file, key },
    close: async () => {
      await orders.close()
      process.off('exit', remove)
      remove()
    },
  }
}

/** Orders as every process of the shop takes them. */
export function takeOrders({
  store,
  key,
  token,
  wallet,
  url,
  policy,
}: {
  store: PaymentStore
  key: Uint8Array
  token: DevChain['token']
  wallet: Client
  url: string
  policy: OrdersPolicy
}): Orders {
  const client = createReadClient({ url, chain: wallet.chain })
  return createOrders({
    store,
    seal: sealer({ keys: { demo: key }, current: 'demo' }),
    tokens: [{ client, token }],
    wallets: [wallet],
    policy: { pollingInterval: 100, ...policy },
  })
}

/** Has the shop's worker do all that is due, until it is told to stop. */
export function startWorker({ orders }: Shop): { stop(): Promise<void> } {
  const control = new AbortController()
  const running = orders.run({ signal: control.signal })
  return {
    stop: async () => {
      control.abort()
      await running
    },
  }
}
