import { expect, test, vi } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  removeOld,
  startCleaning,
} from '../../../../src/x402/gate/removeOld.js'
import { openGatePayer } from '../../support/gatePayer.js'
import { eventsOf } from '../../support/shop.js'
import {
  type GateShop,
  openGateShop,
  requiredBy,
} from '../../support/x402Desk.js'

const shop = await openGateShop({
  offers: { kept: { amount: '0.01', flow: 'upfront', afterFailure: 'keep' } },
})
const { context, instance } = contextOf(shop.orders)

const notesOf = ({ store }: GateShop, id: string) =>
  store.read(({ notes }) => notes.find({ keys: [`x402:gate:${id}`] }))

/** A time at which every note has expired. */
const later = { ...context, now: () => context.now() + 10_000_000_000n }

const fail = () => new Response('no such city', { status: 404 })

/** An exchange whose work failed, and whose client left. */
async function abandoned(offer: 'kept' | 'work') {
  const payer = await openGatePayer(shop, offer, fail)
  expect((await payer.send()).status).toBe(404)
  const { id } = await payer.lastOrder()
  return { ...payer, id }
}

test('when nobody came back for the work, the captured payment raises refundDue once', async () => {
  const { id, send } = await abandoned('kept')
  await removeOld(later)
  const { events } = await shop.orders.events({ orderId: id, limit: 100 })
  const due = events.filter(({ type }) => type === 'refundDue')
  expect(due.map(({ data }) => data)).toEqual([
    expect.objectContaining({
      reason: 'abandoned',
      refundId: expect.any(String),
      value: '10000',
    }),
  ])
  const late = await send()
  expect(requiredBy(late).error).toBe('invalid_transaction_state')
  await removeOld(later)
  expect(await notesOf(shop, id)).toEqual([])
  expect((await send()).status).toBe(402)
  const types = await eventsOf(shop, id)
  expect(types.filter((type) => type === 'refundDue')).toHaveLength(1)
})

/** The cleaning loop of another process, whose clock is months ahead. */
function cleanLater(close: AbortSignal) {
  const started = { looks: 0 }
  const store: typeof context.store = {
    ...context.store,
    read: (work) => {
      started.looks++
      return context.store.read(work)
    },
  }
  const own = { ...instance, closing: close }
  const start = () =>
    startCleaning({ context: { ...later, store }, instance: own })
  return { start, started }
}

test('a captured payment whose work nobody fetched raises refundDue without a further request', async () => {
  const { id } = await abandoned('kept')
  const closing = new AbortController()
  cleanLater(closing.signal).start()
  await expect.poll(() => eventsOf(shop, id)).toContain('refundDue')
  closing.abort()
})

test('a thousand requests start one loop, which removes more than a hundred records within seconds', async () => {
  // Half of them are ended by one look, and removed by a later one.
  const ids = Array.from({ length: 150 }, (_, at) => `abandoned-${at}`)
  const keys = ids.flatMap((id) => [`x402:gate:${id}`, `other:${id}`])
  const data = { step: 'failed' }
  await context.store.write(({ notes }) =>
    notes.insert(keys.map((key) => ({ key, until: 1n, data }))),
  )
  const closing = new AbortController()
  const { start, started } = cleanLater(closing.signal)
  for (let requests = 0; requests < 1000; requests++) start()
  const left = async () => {
    const found = await context.store.read(({ notes }) => notes.find({ keys }))
    return found.filter((note) => note.data.step !== 'over')
  }
  await expect.poll(left, { timeout: 10_000 }).toEqual([])
  closing.abort()
  expect(started.looks).toBeLessThan(10)
})

test('a loop that a runtime stopped with its request is replaced by a later request', async () => {
  const closing = new AbortController()
  const { start, started } = cleanLater(closing.signal)
  start()
  await expect.poll(() => started.looks).toBeGreaterThan(0)
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 121_000)
  const { looks } = started
  start()
  clock.mockRestore()
  await expect.poll(() => started.looks).toBeGreaterThan(looks)
  closing.abort()
})

test('a payment that can still be captured keeps its exchange', async () => {
  const { id } = await abandoned('work')
  await removeOld(later)
  const [note] = await notesOf(shop, id)
  expect(note?.data.step).toBe('failed')
  expect(note?.until).toBeGreaterThan(later.now())
})

test('an exchange that a gate works on is left alone', async () => {
  const payer = await openGatePayer(shop, 'upfront', async () => {
    await removeOld(later)
    return new Response('goods')
  })
  const answer = await payer.send()
  expect([answer.status, await answer.text()]).toEqual([200, 'goods'])
  const { id } = await payer.lastOrder()
  expect(await eventsOf(shop, id)).not.toContain('refundDue')
})
