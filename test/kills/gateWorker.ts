import process from 'node:process'
import { serve } from '@hono/node-server'
import { createBoundaries } from './boundaries.js'
import { type GatePlan, openServedGate } from './gateStage.js'
import { passNode } from './passNode.js'
import { passStore } from './passStore.js'
import { passWallet } from './passWallet.js'

// A process that answers paid requests at the port that it tells, until its
// input ends, and can be told where to die. At SIGTERM it tells the points that
// it passed.
const plan: GatePlan = JSON.parse(process.argv[2] ?? '')
const boundaries = createBoundaries(plan.kill)
passNode(plan.url, boundaries)
const { answer } = openServedGate(plan, {
  store: (store) => passStore(store, boundaries),
  wallet: (account) => passWallet(account, boundaries),
})
process.stdin.once('end', () => process.exit(0)).resume()
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(boundaries.passed)}\n`, () =>
    process.exit(0),
  )
})
serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`port ${port}\n`)
})
