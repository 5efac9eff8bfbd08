/**
 * A shop to look at: a chain of its own, a backend, the shop's pages and the
 * merchant's.
 *
 *     npm run shop
 *     npm run shop -- --port 8080 --data ./shop-data --window 60
 */
import { once } from 'node:events'
import process from 'node:process'
import { parseArgs } from 'node:util'

const stopping = new AbortController()
const { signal } = stopping
// Listened to for good: else who started the node ends this process, too.
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => stopping.abort())

try {
  const { port, data, window } = readOptions()
  console.log('Starting the chain, the orders and the page …')
  // Takes a while to load, and Ctrl-C is heard already.
  const { startShop } = await import('./server/startShop.js')
  const shop = await startShop({ port, data, policy: { window }, signal })
  console.log(`
  The shop              ${shop.url}
  The merchant's page   ${shop.merchantUrl}
  The chain             ${shop.chain.urls.http}  (id ${shop.chain.chain.id}, play money)

  1  Open the shop, put something into the basket, check out and sign.
     No wallet extension? The development wallet is in the list.
  2  Open the merchant's page beside it and capture the payment, or leave it
     and cancel from the page of the order.
  3  Watch both pages follow the payment until it is final.

  Ctrl-C ends everything.
`)
  if (!signal.aborted) await once(signal, 'abort')
  await shop.close()
} catch (error) {
  if (!signal.aborted) {
    console.error(`shop: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}

function readOptions(): {
  port: number
  data: string | undefined
  /** Seconds a payment can be signed and captured. */
  window: bigint
} {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      data: { type: 'string' },
      window: { type: 'string', default: '900' },
    },
  })
  const { port, data, window } = values
  if (!/^\d+$/.test(port) || Number(port) > 65_535)
    throw new Error(`--port must be from 0 to 65535, not ${port}.`)
  if (!/^\d+$/.test(window) || Number(window) < 30)
    throw new Error(`--window must be at least 30 seconds, not ${window}.`)
  return { port: Number(port), data, window: BigInt(window) }
}
