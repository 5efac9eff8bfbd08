import { startDevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { runWebhooks } from 'countersign/webhooks'
import { afterAll, expect, test } from 'vitest'
import { startReceiver } from '../../unit/support/webhooksReceiver.js'
import { createSecret, toldOf } from '../../unit/support/webhooksRun.js'
import { fakeNode, fundedAccount } from '../support/desk.js'
import { eventsOf, openShop, storedOrder } from '../support/shop.js'
import { startSilentNode } from '../support/silentNode.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
} from '../support/subscriptionShop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const policy = { pollingInterval: 20, fulfilAt: 'included' } as const

const anHour = 3_600_000

/** What ends long before its time, ends because nothing is due. */
const inAnHour = () => Date.now() + anHour

const newShop = (changes: Parameters<typeof openShop>[1] = {}) =>
  openShop(chain, { policy, ...changes })

test('captures what was requested, follows it to its fulfilment, and ends', async () => {
  const shop = await newShop()
  const { id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id, timeout: 0 })
  const began = Date.now()
  const { next } = await shop.orders.runDue({ until: inAnHour() })
  expect(await eventsOf(shop, id)).toContain('fulfil')
  expect(Number(next)).toBeGreaterThan(began)
})

test('says when an order is due, and captures it then', async () => {
  const capturing = { ...policy, capture: 'beforeDeadline' } as const
  const shop = await newShop({
    policy: { ...capturing, quietInterval: 60_000 },
  })
  const { id } = await storedOrder(chain, shop, { window: 7200n })
  const { next } = await shop.orders.runDue({ until: inAnHour() })
  expect(await eventsOf(shop, id)).not.toContain('captured')
  expect(Number(next)).toBeLessThanOrEqual(Date.now() + 60_000)
  await chain.warp(7000)
  await shop.orders.runDue({ until: new Date(inAnHour()) })
  expect(await eventsOf(shop, id)).toContain('captured')
})

test('a store that reports no changes is asked until nothing is new', async () => {
  const { onChange: _, ...store } = memoryStore()
  const shop = await newShop({ store })
  const { id } = await storedOrder(chain, shop)
  const receiver = await startReceiver()
  await shop.orders.capture({ orderId: id, timeout: 0 })
  await shop.orders.runDue({
    until: inAnHour(),
    also: [({ signal }) => deliver(shop, receiver, signal)],
  })
  expect(toldOf(receiver).at(-1)).toMatch(new RegExp(`^${id} order.fulfil`))
})

function deliver(
  { orders, store }: Awaited<ReturnType<typeof newShop>>,
  { url, ca }: Awaited<ReturnType<typeof startReceiver>>,
  signal: AbortSignal,
): Promise<void> {
  const secrets = [createSecret()]
  const target = { name: 'test', url, ca, secrets, privateHosts: ['localhost'] }
  return runWebhooks(orders, { store, targets: [target], signal })
}

test('delivers the events of what it did, and retries what the receiver refuses', async () => {
  const shop = await newShop()
  const { id } = await storedOrder(chain, shop)
  const receiver = await startReceiver((response, _, index) =>
    response.writeHead(index === 0 ? 500 : 204).end(),
  )
  const also = [
    ({ signal }: { signal: AbortSignal }) => deliver(shop, receiver, signal),
  ]
  const work = () => shop.orders.runDue({ until: inAnHour(), also })
  await shop.orders.capture({ orderId: id, timeout: 0 })
  let told = ''
  // The refused event is sent again at the time that the call returns.
  while (!told.includes('order.fulfil')) {
    const { next } = await work()
    told = toldOf(receiver).join()
    const rest = Number(next) - Date.now()
    expect(rest).toBeLessThan(anHour)
    await new Promise((resolve) => setTimeout(resolve, rest))
  }
})

test('charges subscriptions that are due', async () => {
  const subscribed = await startSubscriptionChain()
  try {
    const shop = await openSubscriptionShop(subscribed)
    const { id } = await shop.subscribe()
    const also = [shop.subscriptions.run]
    const work = () => shop.orders.runDue({ until: inAnHour(), also })
    await work()
    expect((await chargesOf(shop, id)).map(([, state]) => state)).toEqual([
      'captured',
    ])
    await pass(subscribed, period)
    await work()
    expect((await chargesOf(shop, id)).map(([, state]) => state)).toEqual([
      'captured',
      'captured',
    ])
  } finally {
    await subscribed.stop()
  }
})

test('ends while an order cannot be sent, and says when to try again', async () => {
  const low = { ...policy, maxFee: 1n, quietInterval: 5_000 }
  const shop = await newShop({ policy: low })
  const { id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id, timeout: 0 })
  const { next } = await shop.orders.runDue({ until: inAnHour() })
  expect(Number(next) - Date.now()).toBeGreaterThan(3_000)
  expect(await eventsOf(shop, id)).not.toContain('captured')
})

test('while a node is silent, ends at its time', async () => {
  const node = await startSilentNode(chain.urls.http)
  const shop = await newShop({ url: node.url })
  const { id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id, timeout: 0 })
  node.silence(() => true)
  const { next } = await shop.orders.runDue({ until: Date.now() + 500 })
  expect(Number(next)).toBeLessThanOrEqual(Date.now())
  node.silence(() => false)
  await shop.orders.runDue({ until: inAnHour() })
  expect(await eventsOf(shop, id)).toContain('captured')
})

test('a worker that tells nothing of itself runs until it ends', async () => {
  const { orders } = await newShop()
  const until = inAnHour()
  let isOver = false
  const foreign = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    isOver = true
  }
  await orders.runDue({ until, also: [foreign] })
  expect(isOver).toBe(true)
  const ended: boolean[] = []
  await orders.runDue({
    until: Date.now() + 300,
    also: [
      ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            ended.push(true)
            resolve()
          }),
        ),
    ],
  })
  expect(ended).toEqual([true])
})

test('throws what a worker throws, once the others have ended', async () => {
  const shop = await newShop()
  const { id } = await storedOrder(chain, shop)
  const failing = () => Promise.reject(new Error('no such table'))
  await expect(
    shop.orders.runDue({ until: inAnHour(), also: [failing] }),
  ).rejects.toThrow('no such table')
  await shop.orders.capture({ orderId: id, timeout: 0 })
  await shop.orders.runDue({ until: inAnHour() })
  expect(await eventsOf(shop, id)).toContain('captured')
})

test('several calls and processes at a time capture each order once', async () => {
  const store = memoryStore()
  const account = await fundedAccount(chain)
  const processes = await Promise.all(
    [1, 2].map(() => newShop({ store, sellers: [account] })),
  )
  const [shop] = processes
  if (!shop) throw new Error('no shop')
  const sold = await Promise.all(
    Array.from({ length: 5 }, () => storedOrder(chain, shop)),
  )
  for (const { id } of sold)
    await shop.orders.capture({ orderId: id, timeout: 0 })
  await Promise.all(
    [...processes, ...processes].map(({ orders }) =>
      orders.runDue({ until: inAnHour() }),
    ),
  )
  for (const { id } of sold)
    expect(
      (await eventsOf(shop, id)).filter((type) => type === 'captured'),
    ).toHaveLength(1)
})

test('while another process holds the leases, ends soon', async () => {
  const store = memoryStore()
  const account = await fundedAccount(chain)
  const first = await newShop({ store, sellers: [account] })
  const second = await newShop({ store, sellers: [account] })
  const stop = new AbortController()
  const running = first.orders.run({ signal: stop.signal })
  try {
    const { id } = await storedOrder(chain, first)
    await first.orders.capture({ orderId: id })
    await second.orders.runDue({ until: inAnHour() })
    expect(stop.signal.aborted).toBe(false)
  } finally {
    stop.abort()
    await running
  }
})

test('rejects while the store cannot be opened', async () => {
  const broken = {
    ...memoryStore(),
    open: () => Promise.reject(new Error('no database')),
  }
  const { orders } = await newShop({ store: broken })
  await expect(orders.runDue({ until: inAnHour() })).rejects.toThrow(
    'no database',
  )
})

test('a call that is closed meanwhile asks to be called again at once', async () => {
  const { orders } = await newShop()
  const running = orders.runDue({
    until: Date.now() + 400,
    also: [
      ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve()),
        ),
    ],
  })
  await orders.close()
  const { next } = await running
  expect(Number(next)).toBeLessThanOrEqual(Date.now())
})

test('a call waits for its turn until its own time, and begins nothing then', async () => {
  const { orders } = await newShop()
  let begun = 0
  const long = async () => {
    begun++
    await new Promise((resolve) => setTimeout(resolve, 1_500))
  }
  const first = orders.runDue({ until: inAnHour(), also: [long] })
  const { next } = await orders.runDue({
    until: Date.now() + 200,
    also: [long],
  })
  expect(Number(next)).toBeLessThanOrEqual(Date.now())
  expect(begun).toBe(1)
  await first
})

test.each([
  ['until', { until: Date.now() - 1 }],
  ['until', { until: '2030-01-01' }],
  ['until', { until: Number.NaN }],
  ['until', {}],
  ['also', { until: inAnHour(), also: ['run'] }],
  ['signal', { until: inAnHour(), signal: true }],
])('a malformed %s is refused', async (field, parameters) => {
  const { orders } = await newShop()
  await expect(orders.runDue(parameters as never)).rejects.toMatchObject({
    name: 'InvalidFieldError',
    details: { field },
  })
})

test('while nothing is due, a call asks the node about 30 times', async () => {
  const { client, asked, methods } = fakeNode(chain)
  const shop = await newShop({ client })
  const { id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id, timeout: 0 })
  await shop.orders.runDue({ until: inAnHour() })
  asked.length = 0
  await shop.orders.runDue({ until: inAnHour() })
  const logs = methods().filter((method) => method === 'eth_getLogs')
  expect(logs).toHaveLength(2)
  expect(methods().length).toBeLessThan(40)
})
