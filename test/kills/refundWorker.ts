import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBoundaries } from './boundaries.js'
import { blockMiner } from './mineBlock.js'
import { openShop, type Shop } from './openShop.js'
import { passNode } from './passNode.js'
import { passStore } from './passStore.js'
import { passWallet } from './passWallet.js'
import { type RefundPlan, stepRefund } from './refundPlan.js'

/**
 * A process that refunds an order, works until the refund is final, and can be
 * told where to die. It prints the points it passed.
 */
async function main(plan: RefundPlan): Promise<void> {
  const mine = blockMiner(plan.url)
  const boundaries = createBoundaries(plan.kill)
  passNode(plan.url, boundaries)
  const shop = openShop(plan, {
    store: (store) => passStore(store, boundaries),
    wallet: (account) => passWallet(account, boundaries),
  })
  await refundToEnd(shop, plan, mine)
  const points = [...boundaries.passed]
  await shop.orders.close()
  process.stdout.write(`${JSON.stringify({ points })}\n`)
}

/** Works on a chain that goes on when something happened. */
async function refundToEnd(
  shop: Shop,
  plan: RefundPlan,
  mine: () => Promise<void>,
): Promise<void> {
  await stepRefund(shop, plan)
  const stop = new AbortController()
  // One thing after the other, so that it passes the same points each time.
  const running = shop.orders.run({ signal: stop.signal, concurrency: 1 })
  let before = ''
  for (let looks = 0; ; looks++) {
    const refund = await stepRefund(shop, plan)
    const now = refund?.transfer?.finality ?? ''
    if (now === 'finalized') break
    if (now !== before || looks % 100 === 99) await mine()
    before = now
    await sleep(20)
  }
  stop.abort()
  await running
}

// Nobody is left to follow it.
process.stdin.once('end', () => process.exit(1)).resume()
await main(JSON.parse(process.argv[2] ?? ''))
process.stdin.destroy()
