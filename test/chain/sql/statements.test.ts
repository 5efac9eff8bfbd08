import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openDesk, sell } from '../support/httpDesk.js'
import { watchStatements } from '../support/watchStatements.js'

const chain = await startDevChain({ blockTime: 0 })
const folder = mkdtempSync(join(tmpdir(), 'countersign-statements-'))
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Notes every statement that the database runs until the test ends. */
function noteStatements(): string[] {
  const ran: string[] = []
  onTestFinished(watchStatements((text) => ran.push(text)))
  return ran
}

test('a purchase over HTTP makes few statements until its payment is stored', async () => {
  const ran = noteStatements()
  const store = sqliteStore({ file: join(folder, 'orders.db') })
  const desk = await openDesk(chain, { store })
  // The first purchase also opens connections and reads the submitter's funds.
  const first = await sell(chain, desk)
  await desk.ask(`POST /orders/${first.id}/payment`, {
    token: first.token,
    body: first.signed,
  })
  const count = async <result>(work: () => Promise<result>) => {
    ran.length = 0
    const result = await work()
    return { result, statements: ran.length }
  }
  const draft = await count(() =>
    desk.ask<{ order: { id: string }; buyerToken: string }>(
      'POST /merchant/orders',
      { body: { amount: '12.50' } },
    ),
  )
  const { order, buyerToken: token } = draft.result.body
  const read = await count(() =>
    desk.ask(`GET /orders/${order.id}/payment`, { token }),
  )
  const { id, token: other, signed } = await sell(chain, desk)
  const accept = await count(() =>
    desk.ask(`POST /orders/${id}/payment`, { token: other, body: signed }),
  )
  expect(accept.result.status).toBe(200)
  expect({
    draft: draft.statements,
    read: read.statements,
    accept: accept.statements,
  }).toEqual({ draft: 8, read: 5, accept: 20 })
})

test('the events of an order take two queries, also after its newest one', async () => {
  const ran = noteStatements()
  const store = sqliteStore({ file: join(folder, 'events.db') })
  const { orders } = await openDesk(chain, { store })
  const { order } = await orders.draft({ amount: '12.50' })
  const { cursor } = await orders.events({ orderId: order.id })
  ran.length = 0
  await orders.events({ orderId: order.id, after: cursor })
  const [begin, ...rest] = ran
  expect(begin).toBe('begin')
  expect(rest.map((text) => text.match(/from "(\w+)"/)?.[1])).toEqual([
    'orders',
    'events',
    undefined,
  ])
})

test('a lease is prolonged in one statement, which begins no transaction', async () => {
  const ran = noteStatements()
  const store = sqliteStore({ file: join(folder, 'leases.db') })
  const wanted = { key: 'till', owner: 'me', milliseconds: 60_000 }
  const taken = await store.takeLease(wanted)
  ran.length = 0
  expect(await store.takeLease(wanted)).toEqual(taken)
  expect(ran).toHaveLength(1)
  ran.length = 0
  expect(await store.takeLease({ ...wanted, owner: 'you' })).toBeUndefined()
  // One more looks whether a newer release is why.
  expect(ran).toHaveLength(3)
  // Beside units of work that share a commit, it is as durable as they are.
  const at = (index: number) => ({ ...wanted, key: `till ${index}` })
  const leases = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      await store.write((tables) => tables.setValue(`value ${index}`, {}))
      return store.takeLease(at(index))
    }),
  )
  await store.close()
  const other = sqliteStore({ file: join(folder, 'leases.db') })
  for (const [index, lease] of leases.entries())
    expect(await other.takeLease(at(index))).toEqual(lease)
  await other.close()
})
