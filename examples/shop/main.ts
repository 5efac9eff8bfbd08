/**
 * A shop to look at: a chain of its own, a backend, the buyer's page and the
 * merchant's.
 *
 *     npm run shop
 *     npm run shop -- --port 8080 --data ./shop-data
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { startShop } from './server/startShop.js'

const { values } = parseArgs({
  options: { port: { type: 'string' }, data: { type: 'string' } },
})
const stopped = new Promise<void>((resolve) => {
  // Listened to for good: else who started the node ends this process, too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => resolve())
})

try {
  console.log('Starting chain, orders and page …')
  const shop = await startShop({
    port: readPort(values.port),
    data: values.data,
  })
  console.log(`
  The buyer's page      ${shop.url}
  The merchant's page   ${shop.merchantUrl}
  The chain             ${shop.chain.urls.http}  (id ${shop.chain.chain.id}, worth nothing)

  1  Open the buyer's page, choose a product and authorize its payment.
     No wallet extension? The development wallet is in the list.
  2  Open the merchant's page beside it and capture the payment, or leave it
     and cancel from the buyer's page.
  3  Watch it go from stored to pre-confirmed, included and final.

  Ctrl-C ends everything.
`)
  await stopped
  await shop.close()
} catch (error) {
  console.error(`shop: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

function readPort(text = '0'): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port must be from 0 to 65535, not ${text}.`)
  return port
}
