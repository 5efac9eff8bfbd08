import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import { getBlockNumber } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { leaked, openDesk, sell, sellPaid } from '../support/httpDesk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const folder = mkdtempSync(join(tmpdir(), 'countersign-http-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'orders.db')

/** The greatest number a query may name. */
const most = '9'.repeat(18)

test.each<[string, () => PaymentStore]>([
  ['memory', memoryStore],
  ['SQLite', () => sqliteStore({ file })],
])('no number, id or text is too much for a store in %s', async (_, open) => {
  const seal = sealer({ keys: { one: randomBytes(32) }, current: 'one' })
  const desk = await openDesk(chain, { store: open(), seal })
  const { ask } = desk
  const { id, token, signed } = await sellPaid(chain, desk)
  const statusOf = async (...asked: Parameters<typeof ask>) =>
    (await ask(...asked)).status
  expect(await statusOf(`GET /merchant/orders?before=${most}`)).toBe(200)
  expect(await statusOf('GET /merchant/orders?before=0')).toBe(200)
  const chains = [
    [Number.MAX_SAFE_INTEGER, 200],
    ['9'.repeat(16), 400],
  ] as const
  for (const [chainId, status] of chains)
    expect(await statusOf(`GET /merchant/orders?chainId=${chainId}`)).toBe(
      status,
    )
  const keys = [
    "'; drop table orders; --",
    '%',
    '_',
    '"',
    '\\',
    'a'.repeat(128),
  ]
  for (const key of keys) {
    const headers = { 'idempotency-key': key }
    const sold = await ask<{ order: { id: string } }>('POST /merchant/orders', {
      headers,
      body: { amount: '1', metadata: { [key]: key } },
    })
    expect(sold.body.order.id).toBe(key)
    const at = encodeURIComponent(key)
    expect((await ask(`GET /merchant/orders/${at}`)).body).toMatchObject({
      id: key,
      metadata: { [key]: key },
    })
  }
  const beyond = { status: 400, body: { field: 'toBlock' } }
  for (const range of [`fromBlock=${most}`, 'fromBlock=5&toBlock=1'])
    expect(await ask(`GET /merchant/audit?${range}`)).toMatchObject(beyond)
  const start = { body: { fromBlock: most } }
  expect(await ask('POST /merchant/reconcile', start)).toMatchObject(beyond)
  const audit = await ask(`GET /merchant/audit?fromBlock=1&toBlock=${most}`)
  const head = await getBlockNumber(chain.clients.public)
  expect(audit.body).toMatchObject({
    destinations: [{ toBlock: String(head) }],
  })
  expect(await statusOf(`GET /orders/${id}`, { token })).toBe(200)
  expect(leaked(desk.told, [signed.signature])).toEqual([])
  await desk.orders.close()
})

test('after a restart the same token opens the same order', async () => {
  const seal = sealer({ keys: { one: Buffer.alloc(32, 1) }, current: 'one' })
  const other = join(folder, 'other.db')
  const sellers = [await fundedAccount(chain)]
  const open = () =>
    openDesk(chain, { store: sqliteStore({ file: other }), seal, sellers })
  const first = await open()
  const { id, token, signed } = await sell(chain, first)
  await first.orders.close()
  const second = await open()
  const path = `POST /orders/${id}/payment`
  expect(await second.ask(path, { token, body: signed })).toMatchObject({
    status: 200,
    body: { state: 'stored' },
  })
  await second.orders.close()
})

test('a server whose orders are closed has no stream to wait for', async () => {
  const store = sqliteStore({ file: join(folder, 'closed.db') })
  const seal = sealer({ keys: { one: Buffer.alloc(32, 1) }, current: 'one' })
  const desk = await openDesk(chain, { store, seal })
  const { id, token } = await sell(chain, desk)
  const server = createServer(getRequestListener(desk.handle))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}/payments`
  const headers = { authorization: `Bearer ${token}` }
  const streams = await Promise.all([
    fetch(`${base}/orders/${id}/events`, { headers }),
    fetch(`${base}/merchant/events`),
  ])
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  await desk.orders.close()
  server.close()
  await Promise.all([once(server, 'close'), ...streams.map((it) => it.text())])
})
