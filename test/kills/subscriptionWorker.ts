import process from 'node:process'
import {
  createSubscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import { openShop } from './openShop.js'
import type { ShopPlan } from './plan.js'

/** A worker for orders and subscriptions, until it is told to stop or killed. */
async function main(plan: ShopPlan): Promise<void> {
  const { orders } = openShop(plan, { kinds: [spendPermissions()] })
  const subscriptions = createSubscriptions({ orders })
  const stop = new AbortController()
  const { signal } = stop
  process.once('SIGTERM', () => stop.abort())
  process.stdout.write('working\n')
  await Promise.all([orders.run({ signal }), subscriptions.run({ signal })])
  await orders.close()
}

// Nobody is left to follow it.
process.stdin.once('end', () => process.exit(1)).resume()
await main(JSON.parse(process.argv[2] ?? ''))
process.stdin.destroy()
