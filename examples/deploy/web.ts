/** A web process: takes orders and payments, until SIGTERM. */
import { createHash, timingSafeEqual } from 'node:crypto'
import process from 'node:process'
import { getRequestListener } from '@hono/node-server'
import { createPaymentHandler } from 'countersign/http'
import { createOrders } from 'countersign/orders'
import parameters from './countersign.config.js'
import { needSecret } from './readSecret.js'
import { serveUntil } from './serveUntil.js'
import { drain, merchant, port } from './settings.js'

const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

const orders = createOrders(parameters)
const digest = (text: string) => createHash('sha256').update(text).digest()
const expected = digest(`Bearer ${needSecret('api-key')}`)
const handle = createPaymentHandler(orders, {
  basePath: '/payments',
  authorize: ({ headers }) =>
    timingSafeEqual(digest(headers.get('authorization') ?? ''), expected)
      ? { recipients: [merchant] }
      : undefined,
  stopping: stopping.signal,
})

// For whoever asks no probe, such as systemd.
setInterval(async () => {
  const { ok } = await orders.liveness()
  if (!ok) process.exit(1)
}, 1_000)

await serveUntil(getRequestListener(handle), {
  port,
  stopping: stopping.signal,
  drain,
})
await orders.close()
process.exit()
