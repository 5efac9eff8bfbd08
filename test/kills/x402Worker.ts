import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { createBoundaries } from './boundaries.js'
import { openShop } from './openShop.js'
import { passNode } from './passNode.js'
import { passStore } from './passStore.js'
import { passWallet } from './passWallet.js'
import { openKilledGate, type X402Plan, type X402Told } from './x402Stage.js'

/** A process that answers one paid request and can be told where to die. */
async function main(plan: X402Plan): Promise<void> {
  const boundaries = createBoundaries(plan.kill)
  passNode(plan.url, boundaries)
  const shop = openShop(plan, {
    store: (store) => passStore(store, boundaries),
    wallet: (account) => passWallet(account, boundaries),
  })
  const answer = openKilledGate(shop, plan, (orderId) =>
    boundaries.pass('handler', async () =>
      appendFileSync(plan.runs, `${orderId}\n`),
    ),
  )
  const response = await answer(plan.header)
  const points = [...boundaries.passed]
  const told: X402Told = {
    points,
    status: response.status,
    body: await response.text(),
    settled: response.headers.get('PAYMENT-RESPONSE') ?? '',
  }
  await shop.orders.close()
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

// Nobody is left to follow it.
process.stdin.once('end', () => process.exit(1)).resume()
await main(JSON.parse(process.argv[2] ?? ''))
process.stdin.destroy()
