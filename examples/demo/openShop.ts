import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { DevChain, DevWalletClient } from 'countersign/devchain'
import type { Orders, OrdersPolicy } from 'countersign/orders'
import { createWalletClient, type Hex, http, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { takeOrders } from './takeOrders.js'

/** A merchant's shop with an account of its own. */
export type Shop = {
  orders: Orders
  merchant: DevWalletClient
  place: Place
  /** Ends what is being done, and deletes the orders. */
  close(): Promise<void>
}

/** All that a process needs to work for the shop. */
export type Place = {
  chain: DevChain['chain']
  url: string
  token: DevChain['token']
  /** Where the orders are kept. */
  file: string
  /** What opens the signatures there. */
  sealKey: Hex
  /** What the merchant's transactions are signed with. */
  merchantKey: Hex
  policy: OrdersPolicy
}

/** Opens a shop whose orders are kept sealed, in a file that goes with it. */
export async function openShop(
  chain: DevChain,
  policy: OrdersPolicy = {},
): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const place: Place = {
    chain: chain.chain,
    url: chain.urls.http,
    token: chain.token,
    file: join(folder, 'orders.db'),
    sealKey: toHex(crypto.getRandomValues(new Uint8Array(32))),
    merchantKey: generatePrivateKey(),
    policy,
  }
  const merchant = createWalletClient({
    account: privateKeyToAccount(place.merchantKey),
    chain: chain.chain,
    transport: http(),
  })
  const { address } = merchant.account
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const orders = takeOrders(place, merchant)
  return {
    orders,
    merchant,
    place,
    close: async () => {
      await orders.close()
      process.off('exit', remove)
      remove()
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
