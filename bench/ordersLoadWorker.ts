import { once } from 'node:events'
import process from 'node:process'
import { postgresStore } from 'countersign/sql'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { openShop } from './ordersShop.js'

/** What a worker is told: where everything is, and whose captures it sends. */
export type LoadOrders = {
  dev: Parameters<typeof openShop>[0]
  url: string
  connectionString: string
  /** Seals what is kept. */
  key: Hex
  privateKey: Hex
}

/** A worker in a process of its own, which starts when it is told to. */
const [told] = await once(process, 'message')
const { dev, url, connectionString, key, privateKey }: LoadOrders = told
const orders = openShop(dev, {
  url,
  store: postgresStore({ connectionString }),
  key: Buffer.from(key.slice(2), 'hex'),
  accounts: [privateKeyToAccount(privateKey)],
})
await orders.list({ limit: 1 })
process.send?.('ready')
await once(process, 'message')
const control = new AbortController()
process.once('disconnect', () => control.abort())
await orders.run({ signal: control.signal })
await orders.close()
