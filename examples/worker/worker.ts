/** A worker process: does all that is due until it is told to stop. */
import process from 'node:process'
import type { Observation } from 'countersign/orders'
import { openOrders, type Shop } from './openOrders.js'

const stopping = new AbortController()
const stop = () => stopping.abort()
process.once('message', (shop: Shop) =>
  work(shop).catch((error: unknown) => {
    console.error(`worker: ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  }),
)
process.once('SIGTERM', stop)
// Who started it is gone.
process.once('disconnect', stop)
// Of a terminal this reaches all processes; who started it says when.
process.on('SIGINT', () => undefined)

async function work(shop: Shop): Promise<void> {
  const orders = openOrders(shop, report)
  await orders.run({ signal: stopping.signal })
  await orders.close()
  if (process.connected) process.disconnect()
}

/** Tells who started it what was sent, and for whom. */
function report({ name, attributes }: Observation): void {
  const { account, sent } = attributes
  if (name === 'submitter.sent' && sent && process.connected)
    process.send?.({ account, sent })
}
