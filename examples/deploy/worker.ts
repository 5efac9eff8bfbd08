/** A worker: does all that is due, until SIGTERM. */
import { createServer } from 'node:http'
import process from 'node:process'
import { createOrders } from 'countersign/orders'
import parameters from './countersign.config.js'
import { port } from './settings.js'

const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

const orders = createOrders(parameters)
createServer(async ({ url }, response) => {
  const isLive = url?.endsWith('/livez')
  const { ok } = await (isLive ? orders.liveness() : orders.readiness())
  response.writeHead(ok ? 200 : 503).end()
}).listen(port)

// Ends with an error when only a restart helps.
await orders.run({ signal: stopping.signal })
await orders.close()
process.exit()
