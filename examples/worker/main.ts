/**
 * Two worker processes on one PostgreSQL capture the orders of two recipients.
 * In the middle of it the busier one is stopped, and the other goes on.
 *
 *     npx tsx examples/worker/main.ts
 *     DATABASE_URL=postgres://… npx tsx examples/worker/main.ts
 */
import { once } from 'node:events'
import process from 'node:process'
import { startDevChain } from 'countersign/devchain'
import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openOrders, type Shop } from './openOrders.js'
import { playShift } from './playShift.js'
import { startDatabase } from './startDatabase.js'
import { startWorker } from './startWorker.js'

/** How to end what runs, the last first. */
const ends: (() => Promise<void>)[] = []
const interrupted = once(process, 'SIGINT').then(() => {
  throw new Error('interrupted')
})

try {
  await Promise.race([main(), interrupted])
} catch (error) {
  tell(error)
} finally {
  for (const end of ends.reverse()) await end().catch(tell)
  // The package that starts the server would exit with 0, whatever happened.
  process.exit()
}

function tell(error: unknown): void {
  console.error(`worker: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { connectionString, schema, stop } = await startDatabase()
  ends.push(stop)
  const chain = await startDevChain({ blockTime: 0.5 })
  ends.push(chain.stop)
  console.log(`PostgreSQL and the chain at ${chain.urls.http} run`)

  const walletKeys = [generatePrivateKey(), generatePrivateKey()]
  const recipients = walletKeys.map((key) => privateKeyToAccount(key).address)
  for (const address of recipients)
    await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const shop: Shop = {
    connectionString,
    schema,
    walletKeys,
    chain: chain.chain,
    url: chain.urls.http,
    token: chain.token,
    sealKey: toHex(crypto.getRandomValues(new Uint8Array(32))),
  }
  const orders = openOrders(shop)
  ends.push(orders.close)
  const workers = ['worker 1', 'worker 2'].map((name) => {
    const worker = startWorker(name, shop)
    ends.push(worker.stop)
    return worker
  })
  const isAsTold = await playShift(chain, { orders, workers, recipients })
  if (!isAsTold) process.exitCode = 1
}
