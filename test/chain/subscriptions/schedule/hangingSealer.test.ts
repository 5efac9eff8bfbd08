import type { Observation } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { numberToHex } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openHangingSealer, orderOf } from '../../support/hangingSealer.js'
import { openSqlite } from '../../support/sqliteFiles.js'
import {
  chargesOf,
  openSubscriptionShop,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const policy = { pollingInterval: 20, fulfilAt: 'included' } as const

const stores: [string, () => PaymentStore][] = [
  ['memory', memoryStore],
  ['SQLite', openSqlite],
]

/** Runs the schedules until it is told to end, or the test is over. */
function runSchedules({
  subscriptions,
}: Pick<SubscriptionShop, 'subscriptions'>): () => Promise<void> {
  const stop = new AbortController()
  const ended = subscriptions.run({ signal: stop.signal })
  onTestFinished(() => stop.abort())
  return () => {
    stop.abort()
    return ended
  }
}

test.each(stores)(
  'in %s, a subscription that is never opened holds up no other, is shown, and is charged once it opens',
  async (_, open) => {
    const sealer = openHangingSealer()
    const seen: Observation[] = []
    const shop = await openSubscriptionShop(chain, {
      store: open(),
      changes: {
        seal: sealer.seal,
        policy: { ...policy, sealTimeout: 200 },
        observe: (one) => seen.push(one),
      },
    })
    const { id } = await shop.subscribe()
    const { id: other } = await shop.subscribe()
    sealer.hang((call, place) => call === 'open' && orderOf(place) === id)
    const end = runSchedules(shop)
    const count = async (one: string) => (await chargesOf(shop, one)).length
    await expect.poll(() => count(other), patience).toBe(1)
    const shown = async () =>
      (await shop.orders.health()).destinations.flatMap(
        ({ putAside }) => putAside,
      )
    await expect
      .poll(shown, patience)
      .toMatchObject([
        { what: id, subscriptionId: id, reason: 'SealerUnavailableError' },
      ])
    expect(seen.map(({ name }) => name)).toContain('schedule.failed')
    expect(await count(id)).toBe(0)
    sealer.mend()
    await expect.poll(() => count(id), patience).toBe(1)
    await expect.poll(shown, patience).toEqual([])
    await end()
  },
)

test('a subscription that is being opened keeps none from being charged at a later look, nor run from ending', async () => {
  const sealer = openHangingSealer()
  const shop = await openSubscriptionShop(chain, {
    changes: {
      seal: sealer.seal,
      policy: { ...policy, sealTimeout: 3_600_000 },
    },
  })
  const { id } = await shop.subscribe()
  sealer.hang((call, place) => call === 'open' && orderOf(place) === id)
  const end = runSchedules(shop)
  await expect.poll(sealer.hung, patience).toBe(1)
  const { id: other } = await shop.subscribe()
  await expect
    .poll(async () => (await chargesOf(shop, other)).length, patience)
    .toBe(1)
  expect(sealer.hung()).toBe(1)
  await end()
})

/** Copies a subscription with permissions of their own, all due. */
async function copySubscription(
  { store }: Pick<SubscriptionShop, 'store'>,
  id: string,
  count: number,
): Promise<void> {
  await store.write(async (tables) => {
    const [row] = await tables.subscriptions.find({ ids: [id] })
    const [order] = await tables.orders.find({ ids: [id] })
    const [attempt] = await tables.attempts.find({ orderIds: [id] })
    if (!row || !order || !attempt) throw new Error(`no subscription ${id}`)
    const copies = Array.from({ length: count }, (_, at) => `copy-${at}`)
    const { message, ...permission } = Object(row.permission)
    await tables.subscriptions.insert(
      copies.map((copy, at) => ({
        ...row,
        id: copy,
        permission: {
          ...permission,
          message: { ...message, salt: String(at) },
        },
      })),
    )
    await tables.orders.insert(copies.map((copy) => ({ ...order, id: copy })))
    await tables.attempts.insert(
      copies.map((copy, at) => ({
        ...attempt,
        orderId: copy,
        nonce: numberToHex(at, { size: 32 }),
      })),
    )
  })
}

/** Answers calls in groups: each call waits until its group is complete. */
function groupsOf(size: number): () => Promise<void> {
  let waiting: (() => void)[] = []
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length < size) return
      for (const answer of waiting) answer()
      waiting = []
    })
}

test('fifty due subscriptions at a time are opened together, and then sealed together', async () => {
  const { seal } = openHangingSealer()
  const shop = await openSubscriptionShop(chain, { changes: { seal, policy } })
  const { id } = await shop.subscribe()
  await copySubscription(shop, id, 99)
  const [opened, sealed] = [groupsOf(50), groupsOf(50)]
  const { seal: sealOne, open: openOne } = seal
  seal.open = async (...call) => {
    await opened()
    return openOne(...call)
  }
  seal.seal = async (...call) => {
    await sealed()
    return sealOne(...call)
  }
  expect(await shop.subscriptions.chargeDue()).toEqual({ charged: 100 })
})

test('the verbs of a subscription answer that the sealer does not', async () => {
  const sealer = openHangingSealer()
  const shop = await openSubscriptionShop(chain, {
    changes: { seal: sealer.seal, policy: { ...policy, sealTimeout: 200 } },
  })
  const unavailable = { name: 'SealerUnavailableError', retryable: true }
  const { id } = await shop.subscribe({ amount: undefined, allowance: '10' })
  sealer.hang(() => true)
  await expect(shop.subscribe()).rejects.toMatchObject(unavailable)
  const charge = { subscriptionId: id, chargeId: 'one', amount: '1' }
  await expect(shop.subscriptions.charge(charge)).rejects.toMatchObject(
    unavailable,
  )
  sealer.mend()
  expect(await shop.subscriptions.charge(charge)).toMatchObject({ ok: true })
})
