import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { readExamples } from '../../unit/support/docExamples.js'
import { eventsOf, openShop, storedOrder } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const folder = mkdtempSync(join(tmpdir(), 'countersign-serverless-'))
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true })
})

const page = 'docs/serverless.md'
const examples = readExamples(page, readFileSync(page, 'utf8'))

/** The block of the guide that exports this name, as it is. */
async function load<recipe>(name: string): Promise<recipe> {
  const found = examples.find(({ code }) =>
    new RegExp(`export (const|class|async function) ${name}\\b`).test(code),
  )
  const file = join(folder, `${name}.ts`)
  writeFileSync(file, found?.code ?? '')
  return (await import(file))[name]
}

async function openRequested() {
  const policy = { pollingInterval: 20, fulfilAt: 'included' } as const
  const shop = await openShop(chain, { policy })
  const { id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id, timeout: 0 })
  const isFulfilled = async () => (await eventsOf(shop, id)).includes('fulfil')
  return { ...shop, id, isFulfilled }
}

type CronRoute = (
  orders: Orders,
  secret: string,
) => (request: Request) => Promise<Response>

test('the route of a cron job works for the platform alone', async () => {
  const { orders, isFulfilled } = await openRequested()
  const cronRoute = await load<CronRoute>('cronRoute')
  const answer = cronRoute(orders, 'of the platform')
  const url = 'https://shop.example/cron'
  const authorization = 'Bearer of the platform'
  expect((await answer(new Request(url))).status).toBe(401)
  expect(await isFulfilled()).toBe(false)
  const answered = await answer(
    new Request(url, { headers: { authorization } }),
  )
  const { next } = await answered.json()
  expect(Date.parse(next)).toBeGreaterThan(0)
  expect(await isFulfilled()).toBe(true)
})

type OnMessage = (
  orders: Orders,
  queue: {
    send(body: string, options: { delaySeconds: number }): Promise<void>
  },
) => Promise<void>

test('the message of a queue goes round', async () => {
  const { orders, isFulfilled } = await openRequested()
  const onMessage = await load<OnMessage>('onMessage')
  const sent: number[] = []
  await onMessage(orders, {
    send: async (_, { delaySeconds }) => void sent.push(delaySeconds),
  })
  expect(sent).toEqual([expect.any(Number)])
  expect(await isFulfilled()).toBe(true)
})

type Step = {
  do<result>(name: string, work: () => Promise<result>): Promise<result>
  waitForEvent(name: string, options: { type: string }): Promise<unknown>
}

type Sell = (step: Step, orders: Orders, orderId: string) => Promise<unknown>

test('a workflow that repeats its steps captures once', async () => {
  const { orders, id, ...shop } = await openRequested()
  const sell = await load<Sell>('sell')
  const done: string[] = []
  await sell(
    {
      do: async (name, work) => {
        done.push(name)
        // As after an answer that was lost.
        await work()
        return work()
      },
      waitForEvent: async (_, { type }) => {
        expect(type).toBe(`fulfil-${id}`)
        await orders.runDue({ until: Date.now() + 60_000 })
        expect(await shop.isFulfilled()).toBe(true)
      },
    },
    orders,
    id,
  )
  expect(done).toEqual(['capture', 'ship'])
  const types = await eventsOf({ orders, ...shop }, id)
  expect(types.filter((type) => type === 'captured')).toHaveLength(1)
})
