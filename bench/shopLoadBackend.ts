import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { createAdaptorServer } from '@hono/node-server'
import { createPaymentHandler } from 'countersign/http'
import { sqliteStore } from 'countersign/sql'
import { Hono } from 'hono'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { openShop } from './ordersShop.js'

/** What a backend is told: where everything is, and who sells. */
export type BackendPlace = {
  dev: Parameters<typeof openShop>[0]
  url: string
  file: string
  /** Seals what is kept. */
  key: Hex
  privateKey: Hex
  merchantKey: string
}

/** What it found once nobody buys any more. */
export type BackendReport = {
  orders: number
  captured: number
  /** Orders with more than one `captured` in their events. */
  capturedTwice: number
  isAuditOk: boolean
  transfers: number
  /** Megabytes. */
  memory: number
  /** Milliseconds of a core while the buyers bought. */
  computed: number
}

/** A shop's backend in a process of its own: web server, orders, worker. */
const [told] = await once(process, 'message')
const { dev, url, file, key, privateKey, merchantKey }: BackendPlace = told
const seller = privateKeyToAccount(privateKey)
const orders = openShop(dev, {
  url,
  store: sqliteStore({ file }),
  key: Buffer.from(key.slice(2), 'hex'),
  accounts: [seller],
  policy: { capture: 'onAccept', fulfilAt: 'included' },
})
const handle = createPaymentHandler(orders, {
  basePath: '/payments',
  authorize: ({ headers }) =>
    headers.get('authorization') === `Bearer ${merchantKey}`
      ? { recipients: [seller.address] }
      : undefined,
})
const app = new Hono()
app.all('/payments/*', ({ req }) => handle(req.raw))
const server = createAdaptorServer({ fetch: app.fetch })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const control = new AbortController()
const run = orders.run({ signal: control.signal })
const begun = process.cpuUsage()
process.send?.((server.address() as AddressInfo).port)

await once(process, 'message')
const { user, system } = process.cpuUsage(begun)
process.send?.(await report((user + system) / 1_000))
await once(process, 'message')
control.abort()
await run
server.close()
if ('closeAllConnections' in server) server.closeAllConnections()
await orders.close()
process.disconnect()

async function report(computed: number): Promise<BackendReport> {
  const captures = new Map<string, number>()
  const known = new Set<string>()
  for (let cursor = 0n; ; ) {
    const page = await orders.events({ after: cursor, limit: 1_000 })
    if (page.events.length === 0) break
    cursor = page.cursor
    for (const { orderId, type } of page.events) {
      if (orderId === undefined) continue
      known.add(orderId)
      if (type === 'captured')
        captures.set(orderId, (captures.get(orderId) ?? 0) + 1)
    }
  }
  // An audit goes as far as the record was compared with the chain.
  await orders.reconcile()
  const audit = await orders.audit({ fromBlock: 0n })
  return {
    orders: known.size,
    captured: captures.size,
    capturedTwice: [...captures.values()].filter((count) => count > 1).length,
    isAuditOk: audit.ok,
    transfers: audit.destinations.reduce(
      (sum, { chain }) => sum + chain.count,
      0,
    ),
    memory: process.memoryUsage.rss() / 2 ** 20,
    computed,
  }
}
