/** A web process: takes orders and payments, at the port in `PORT`. */
import { timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { createPaymentHandler } from 'countersign/http'
import { createOrders } from 'countersign/orders'
import { privateKeyToAccount } from 'viem/accounts'
import parameters from './countersign.config.js'
import { endWith } from './endWith.js'
import { readShop } from './shop.js'

const { merchantKey, walletKey } = readShop()
const recipients = [privateKeyToAccount(walletKey).address]
const orders = createOrders(parameters)
const handle = createPaymentHandler(orders, {
  basePath: '/payments',
  authorize: ({ headers }) =>
    isKey(headers.get('authorization') ?? '')
      ? { recipients, refunds: { perDay: '1000000' } }
      : undefined,
})
createServer(getRequestListener(handle)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
)

// A worker's `run` ends when the database was replaced; this process asks.
for (;;) {
  const verdict = await orders.liveness()
  if (!verdict.ok) endWith(verdict.reason)
  await setTimeout(1_000)
}

function isKey(given: string): boolean {
  const wanted = Buffer.from(`Bearer ${merchantKey}`)
  const sent = Buffer.from(given)
  return sent.length === wanted.length && timingSafeEqual(sent, wanted)
}
