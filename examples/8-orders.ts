/**
 * A whole shop: orders are captured by a worker, and shipped once the chain is
 * sure enough of the payment.
 *
 *     npx tsx examples/8-orders.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import { sell } from './orders/sell.js'

const chain = await startDevChain()
const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
const client = createReadClient({ url: chain.urls.http, chain: chain.chain })
const orders = createOrders({
  store: sqliteStore({ file: join(folder, 'orders.db') }),
  // The key comes from where keys are kept, and is the same at the next start.
  seal: sealer({
    keys: { 'key-1': crypto.getRandomValues(new Uint8Array(32)) },
    current: 'key-1',
  }),
  tokens: [{ client, token: chain.token }],
  wallets: [chain.clients.merchant],
  policy: { capture: 'onAccept', fulfilAt: 'safe' },
})

const stopping = new AbortController()
const worker = orders.run({ signal: stopping.signal })
try {
  const amounts = ['12.50', '5.00']
  for (const amount of amounts) await sell(orders, chain, { amount })

  // An event comes at least once, and is known again by its cursor.
  let cursor = 0n
  for (let open = amounts.length; open > 0; await setTimeout(50)) {
    const { events, ...read } = await orders.events({ after: cursor })
    for (const { orderId = '', type } of events) {
      const { amount } = await orders.get({ orderId })
      console.log(`${amount} USDC: ${type}`)
      if (type !== 'fulfil') continue
      console.log(`${amount} USDC: now it is shipped`)
      open--
    }
    cursor = read.cursor
  }
} finally {
  stopping.abort()
  await worker
  await orders.close()
  await chain.stop()
  rmSync(folder, { recursive: true })
}
