import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAdaptorServer } from '@hono/node-server'
import { createPaymentHandler } from 'countersign/http'
import { privateKeyToAccount } from 'viem/accounts'
import { openShop } from './openShop.js'
import type { ShopPlan } from './plan.js'

/** What it answers at `/state`. */
export type HttpWorkerState = {
  /** Bytes of the heap after a collection. */
  heap: number
  /** Connections, that of the question included. */
  sockets: number
}

// A process that serves the routes of merchants at the port that it tells, and
// captures what is accepted, until its input ends. Each merchant's key for the
// routes is the address of its account.
const plan: ShopPlan = JSON.parse(process.argv[2] ?? '')
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const { orders } = openShop(plan)
const merchants = new Map(
  plan.keys.map((key) => {
    const { address } = privateKeyToAccount(key)
    return [`Bearer ${address}`, address]
  }),
)
const handle = createPaymentHandler(orders, {
  basePath: '/payments',
  authorize: ({ headers }) => {
    const recipient = merchants.get(headers.get('authorization') ?? '')
    return recipient && { recipients: [recipient] }
  },
})
const server = createAdaptorServer({
  fetch: async (request) =>
    new URL(request.url).pathname === '/state'
      ? Response.json(await readState())
      : handle(request),
}) as Server
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`port ${port}\n`)
})
process.stdin.once('end', () => process.exit(0)).resume()
await orders.run({ signal: new AbortController().signal })

async function readState(): Promise<HttpWorkerState> {
  collect()
  const sockets = await promisify(server.getConnections.bind(server))()
  return { heap: process.memoryUsage().heapUsed, sockets }
}
