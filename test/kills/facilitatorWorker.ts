import process from 'node:process'
import { createBoundaries } from './boundaries.js'
import { type FacilitatorPlan, settleBody } from './facilitatorPlan.js'
import { openShop } from './openShop.js'
import { passNode } from './passNode.js'
import { passStore } from './passStore.js'
import { passWallet } from './passWallet.js'

/**
 * A facilitator that settles one payment and can be told where to die. It
 * prints the points it passed, and its answer.
 */
async function main(plan: FacilitatorPlan): Promise<void> {
  const boundaries = createBoundaries(plan.kill)
  passNode(plan.url, boundaries)
  const shop = openShop(plan, {
    store: (store) => passStore(store, boundaries),
    wallet: (account) => passWallet(account, boundaries),
  })
  boundaries.leave(boundaries.reach('arrive'))
  const answer = await settleBody(shop.orders, plan.body)
  boundaries.leave(boundaries.reach('answer'))
  const points = [...boundaries.passed]
  await shop.orders.close()
  process.stdout.write(`${JSON.stringify({ points, answer })}\n`)
}

// Nobody is left to follow it.
process.stdin.once('end', () => process.exit(1)).resume()
await main(JSON.parse(process.argv[2] ?? ''))
process.stdin.destroy()
