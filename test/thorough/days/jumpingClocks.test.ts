// The first time, captures, refunds, charges and webhooks held. A shop two hours
// late claimed nothing from its channels, and a withdrawal that a process an hour
// ahead saw first was not claimed against for an hour: see
// test/chain/channels/clocks.test.ts.
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { submitterKey } from '../../../src/orders/account/submitterState.js'
import { contextOf } from '../../../src/orders/contextOf.js'
import { watchKey } from '../../../src/orders/watcher/watchKeys.js'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import { runWebhooksWith } from '../../../src/webhooks/runWebhooks.js'
import {
  isFull,
  seed,
  sqliteFile,
  startChance,
} from '../../chain/support/chaos.js'
import { fundedAccount, rpcError } from '../../chain/support/desk.js'
import { untilOver } from '../../chain/support/faultRun.js'
import { openFaultShop } from '../../chain/support/faultShop.js'
import {
  findAllProblems,
  findBookProblems,
  startHardNode,
} from '../../chain/support/hardTimes.js'
import { startLiveChain } from '../../chain/support/liveChain.js'
import { openShop, pay, storedOrder } from '../../chain/support/shop.js'
import {
  chargesOf,
  countUses,
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
} from '../../chain/support/subscriptionShop.js'
import {
  hour,
  type MovedClock,
  moveClocks,
} from '../../unit/support/movedClocks.js'
import { checkTold } from '../../unit/support/webhooksChecks.js'
import { startReceiver } from '../../unit/support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  quickTools,
} from '../../unit/support/webhooksRun.js'

const chain = await startSubscriptionChain()
const live = await startLiveChain()
// Time goes on whatever happens, and with it what is safe and final.
const clock = setInterval(() => chain.warp(3).catch(() => undefined), 100)
afterAll(async () => {
  clearInterval(clock)
  await chain.stop()
  await live.stop()
})

const schedules = isFull ? 100 : 2

/** Looks within which all is over once the clocks are right again. */
const mostLooks = 1_500

/** A store, and the clock of its database if it has one of its own. */
type ClockedStore = { store: PaymentStore; clock: MovedClock }

/** Opens SQLite, whose own clock a test moves too. */
function clockedSqlite(): ClockedStore {
  const { file, store } = sqliteFile()
  const clock: MovedClock = { ahead: 0 }
  const engine = sqliteEngine({ file })
  const { dialect } = engine
  const clocked = {
    ...dialect,
    get clock() {
      return `(${dialect.clock} + ${clock.ahead})`
    },
  }
  onTestFinished(() => store.close())
  return { store: createSqlStore({ ...engine, dialect: clocked }), clock }
}

const stores = [
  ['memory', () => ({ store: memoryStore(), clock: { ahead: 0 } })],
  ['SQLite', clockedSqlite],
] as const satisfies readonly (readonly [string, () => ClockedStore])[]

/** Moves clocks at random, every 20 ms. Returns what ends it. */
function jump(clocks: readonly MovedClock[], random: () => number): () => void {
  const jumping = setInterval(() => {
    const jumps = [-hour, 0, hour, Math.floor((random() - 0.5) * 2 * hour)]
    for (const one of clocks)
      if (random() < 0.3)
        one.ahead = jumps[Math.floor(random() * jumps.length)] ?? 0
  }, 20)
  return () => clearInterval(jumping)
}

test.each(stores)(
  `workers whose clocks differ and jump by hours, as that of the database does, capture every payment once, in %s (seed ${seed})`,
  { timeout: 600_000 },
  async (_, createStore) => {
    const random = startChance(4)
    const { under } = moveClocks()
    for (let schedule = 0; schedule < schedules; schedule++) {
      const clocks: MovedClock[] = [{ ahead: 0 }, { ahead: -hour }]
      const { store, clock } = createStore()
      const node = startHardNode(chain)
      const settle = jump([...clocks, clock], random)
      // The node fails for a while, so that all kinds of pauses begin.
      node.standAt(1 + random() * 200, 4, () =>
        Promise.reject(rpcError(-32_603, 'out of order')),
      )
      const shop = await openFaultShop(chain, node.connect, {
        store,
        sellsHonestly: true,
        startWorker: (place, run) => under(clocks[place] ?? { ahead: 0 }, run),
      })
      await node.restored
      settle()
      await untilOver(shop, node, node.looks() + mostLooks)
      await shop.stop()
      expect(await findAllProblems(chain, shop)).toEqual([])
    }
  },
)

test.each(stores)(
  'what a worker held in %s when its clock was set back and it died, another takes over',
  async (_, createStore) => {
    const { under } = moveClocks()
    const { store, clock } = createStore()
    const policy = { capture: 'onAccept' } as const
    const shop = await openShop(chain, { store, policy })
    const { orders, seller } = shop
    const { id } = await storedOrder(chain, shop)
    const chainId = chain.chain.id
    const keys = [
      submitterKey({ chainId, account: seller }),
      watchKey(contextOf(orders).context, { chainId }),
    ]
    clock.ahead = hour
    await under(clock, async () => {
      for (const key of keys)
        await store.takeLease({ key, owner: 'dead', milliseconds: 100 })
    })
    clock.ahead = 0
    const ending = new AbortController()
    const running = orders.run({ signal: ending.signal })
    await eventually(
      async () => (await orders.get({ orderId: id })).state,
    ).toBe('captured')
    ending.abort()
    await running
    await orders.close()
  },
)

test.each(stores)(
  'workers whose clocks differ by hours take no lease in %s from one that works, and one that lost it writes nothing',
  async (name, createStore) => {
    const { under } = moveClocks()
    const { store, clock } = createStore()
    await store.open()
    const wanted = { key: 'submitter', milliseconds: 60_000 }
    const takeAt = (ahead: number, owner: string) =>
      under({ ahead }, () => store.takeLease({ ...wanted, owner }))
    const held = await takeAt(0, 'one')
    for (const ahead of [hour, -hour, 0])
      expect(await takeAt(ahead, 'two')).toBeUndefined()
    expect(await takeAt(-hour, 'one')).toEqual(held)
    // The clock of the database itself: nobody knows whether 'one' still works.
    clock.ahead = hour
    const taken = await takeAt(0, 'two')
    expect(taken === undefined).toBe(name === 'memory')
    const write = store.write(async () => 'written', { lease: held })
    expect(await write.catch((error: Error) => error.name)).toBe(
      name === 'memory' ? 'written' : 'LeaseLostError',
    )
  },
)

test(`workers whose clocks jump by hours charge each period once, refund once and tell each event once, in order (seed ${seed})`, async () => {
  const { under } = moveClocks()
  const account = await fundedAccount(chain)
  const { store } = sqliteFile()
  const clocks: MovedClock[] = [{ ahead: 0 }, { ahead: -hour }]
  const isTaken = (index: number) => index % 5 !== 0
  const receiver = await startReceiver((response, _, index) =>
    response.writeHead(isTaken(index) ? 204 : 503).end(),
  )
  const target = {
    name: 'warehouse',
    url: receiver.url,
    ca: receiver.ca,
    secrets: [createSecret()],
    privateHosts: ['localhost'],
  }
  const ending = new AbortController()
  const { signal } = ending
  const settle = jump(clocks, startChance(5))
  const workers = await Promise.all(
    clocks.map((clock) =>
      under(clock, async () => {
        const shop = await openSubscriptionShop(chain, { store, account })
        const { orders, subscriptions } = shop
        const outbox = { store, targets: [target], signal }
        const running = Promise.all([
          orders.run({ signal }),
          subscriptions.run({ signal }),
          runWebhooksWith(orders, outbox, quickTools),
        ])
        return { shop, running }
      }),
    ),
  )
  const [{ shop }] = workers as [(typeof workers)[0]]
  const { orders } = shop
  const { id } = await shop.subscribe({ amount: '10', allowance: '100' })
  const isCharged = async (count: number) =>
    (await chargesOf(shop, id)).filter((one) => one[1] === 'captured')
      .length === count
  for (let periods = 1; periods <= 3; periods++) {
    await eventually(() => isCharged(periods)).toBe(true)
    const { id: orderId } = await storedOrder(chain, shop)
    await orders.capture({ orderId, timeout: 60_000 })
    const refund = { orderId, refundId: 'one', amount: '2.50' }
    await orders.refund(refund)
    await eventually(async () => (await orders.get({ orderId })).refunded).toBe(
      2_500_000n,
    )
    if (periods < 3) await pass(chain, period)
  }
  settle()
  await eventually(async () => {
    const { orders: all } = await orders.list({ limit: 200 })
    return all.every(({ capture }) => capture?.finality === 'finalized')
  }).toBe(true)
  ending.abort()
  await Promise.all(workers.map(({ running }) => running))
  expect(await countUses(chain, shop, id)).toBe(3)
  await orders.reconcile()
  expect((await orders.audit()).ok).toBe(true)
  expect(await findBookProblems(chain, orders)).toEqual([])
  const counts = checkTold(receiver, isTaken)
  expect(counts).toEqual(counts.map(() => 1))
  for (const one of workers) await one.shop.orders.close()
})

test('a worker whose clock is an hour off captures what was accepted, and takes nothing new until it is right', async () => {
  const { under } = moveClocks()
  const place = live as unknown as typeof chain
  const words: unknown[] = []
  const shop = await openShop(place, {
    policy: { capture: 'onAccept', fulfilAt: 'included', pollingInterval: 50 },
    observe: ({ attributes }) => words.push(attributes.error),
  })
  const { orders } = shop
  for (const ahead of [hour, -hour]) {
    const wrong: MovedClock = { ahead: 0 }
    const { id } = await storedOrder(place, shop)
    const { order, payment } = await orders.draft({ amount: '1' })
    const ending = new AbortController()
    const running = under(wrong, () => {
      wrong.ahead = ahead
      return orders.run({ signal: ending.signal })
    })
    await eventually(
      async () => (await orders.get({ orderId: id })).state,
    ).toBe('captured')
    await live.clients.test.mine({ blocks: 3 })
    const refund = { orderId: id, refundId: 'one', amount: '2.50' }
    await orders.refund(refund)
    await eventually(() => words).toContain('ClockSkewError')
    const signed = await pay(live.clients.payer.account, payment)
    const refused = { name: 'ClockSkewError', retryable: true }
    await under(wrong, async () => {
      await expect(orders.draft({ amount: '1' })).rejects.toMatchObject(refused)
      await expect(
        orders.accept({ orderId: order.id, payment: signed }),
      ).rejects.toMatchObject(refused)
    })
    expect((await orders.get({ orderId: id })).refunded).toBe(0n)
    wrong.ahead = 0
    await eventually(async () => {
      await live.clients.test.mine({ blocks: 1 })
      return (await orders.get({ orderId: id })).refunded
    }).toBe(2_500_000n)
    ending.abort()
    await running
    words.length = 0
  }
  await orders.reconcile()
  expect((await orders.audit()).ok).toBe(true)
  await orders.close()
})
