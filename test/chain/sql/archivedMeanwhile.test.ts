import { postgresStore } from 'countersign/sql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wait } from '../../../src/core/wait.js'
import {
  drawDestination,
  drawHash,
  drawId,
  sampleAttempt,
  sampleOrder,
  sampleTransaction,
} from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await startDatabase()
})

afterAll(() => database.stop())

/** Two connections to a database whose archive is empty, and old orders. */
async function openBoth(name: string) {
  const connectionString = await database.create(name)
  const [store, other] = [1, 2].map(() => postgresStore({ connectionString }))
  if (!store?.archive || !other?.archive) throw new Error('no archive')
  const destination = drawDestination()
  const final = { finality: 'finalized', createdAt: 1n } as const
  const sale = sampleOrder(destination, { ...final, state: 'captured' })
  const refund = sampleOrder(destination, {
    ...final,
    id: drawId(),
    state: 'captured',
    role: 'refund',
    parentId: sale.id,
  })
  await store.write(async (it) => {
    await it.orders.insert([sale, refund, sampleOrder(destination)])
    await it.attempts.insert([sampleAttempt(sale), sampleAttempt(refund)])
  })
  const archive = () =>
    other.archive?.({ over: [destination], before: 2n, limit: 9 })
  const close = () => Promise.all([store.close(), other.close()])
  const untilWaiting = async () => {
    const count = 'select count(*)::int as waiting from pg_locks'
    const find = () => database.ask(`${count} where not granted`, name)
    while ((await find())[0]?.waiting === 0) await wait(5)
  }
  return { store, sale, refund, archive, untilWaiting, close }
}

test('a unit of work finds what was archived after it began, though nothing was before', async () => {
  const { store, sale, refund, archive, close } = await openBoth('written')
  const orderIds = [sale.id, refund.id]
  const found = await store.write(async (it) => {
    await it.getValue('begun')
    expect(await archive()).toMatchObject({ moved: 2 })
    return {
      refunds: await it.orders.find({ refundsOf: [sale.id] }),
      orders: await it.orders.find({ ids: orderIds }),
      attempts: await it.attempts.find({ orderIds }),
    }
  })
  expect(found.refunds).toMatchObject([{ id: refund.id }])
  expect(found.orders).toMatchObject([{ id: sale.id }, { id: refund.id }])
  expect(found.attempts).toHaveLength(2)
  await close()
})

test('a read sees what was archived after it began where it was', async () => {
  const { store, sale, refund, archive, close } = await openBoth('read')
  const ids = [sale.id, refund.id]
  const [before, after] = await store.read(async (it) => {
    const before = await it.orders.find({ ids })
    expect(await archive()).toMatchObject({ moved: 2 })
    return [before, await it.orders.find({ ids })]
  })
  expect(before).toHaveLength(2)
  expect(after).toEqual(before)
  expect(await store.read((it) => it.orders.find({ ids }))).toEqual(before)
  await close()
})

test('a unit of work changes an attempt of an order that is being archived', async () => {
  const { store, refund, archive, untilWaiting, close } =
    await openBoth('changed')
  const nonce = drawHash()
  const find = () =>
    store.read((it) => it.attempts.find({ orderIds: [refund.id] }))
  const archiving = await store.write(async (it) => {
    const [attempt] = await it.attempts.find({ orderIds: [refund.id] })
    if (attempt) await it.attempts.update([{ ...attempt, nonce }])
    const moving = archive()
    await untilWaiting()
    return { moving }
  })
  expect(await archiving.moving).toMatchObject({ moved: 2 })
  expect(await find()).toMatchObject([{ nonce, version: 2 }])
  await close()
})

test('a transaction is archived as another unit of work changed it meanwhile', async () => {
  const { store, sale, archive, untilWaiting, close } = await openBoth('sent')
  const submitter = { chainId: sale.chainId, account: sale.recipient }
  const at = { at: submitter, nonce: 0 }
  const movements = [{ orderId: sale.id, attempt: 1 }]
  await store.write((it) =>
    it.transactions.insert([
      sampleTransaction(submitter, { movements, inFlight: false }),
    ]),
  )
  const archiving = await store.write(async (it) => {
    const [sent] = await it.transactions.find(at)
    if (sent) await it.transactions.update([{ ...sent, gas: 7n }])
    const moving = archive()
    await untilWaiting()
    return { moving }
  })
  expect(await archiving.moving).toMatchObject({ moved: 2 })
  const sent = await store.read((it) => it.transactions.find(at))
  expect(sent).toMatchObject([{ gas: 7n, version: 2 }])
  await close()
})

test('an order whose transaction or attempt another unit of work opens again is not archived', async () => {
  const { store, sale, refund, archive, untilWaiting, close } =
    await openBoth('opened')
  const submitter = { chainId: sale.chainId, account: sale.recipient }
  const movements = [{ orderId: sale.id, attempt: 1 }]
  await store.write((it) =>
    it.transactions.insert([
      sampleTransaction(submitter, { movements, inFlight: false }),
    ]),
  )
  const archiving = await store.write(async (it) => {
    const [sent] = await it.transactions.find({ at: submitter, nonce: 0 })
    if (sent) await it.transactions.update([{ ...sent, inFlight: true }])
    const [attempt] = await it.attempts.find({ orderIds: [refund.id] })
    if (attempt) await it.attempts.update([{ ...attempt, spendable: true }])
    const moving = archive()
    await untilWaiting()
    return { moving }
  })
  expect(await archiving.moving).toEqual({ moved: 0, last: expect.anything() })
  const open = await store.read((it) =>
    it.transactions.find({ inFlight: submitter }),
  )
  expect(open).toMatchObject([{ movements }])
  await close()
})

test('a unit of work changes an order that another process archives again at once', async () => {
  const { store, sale, archive, untilWaiting, close } = await openBoth('again')
  const ids = [sale.id]
  const archiving: unknown[] = []
  await store.write(async (it) => {
    await it.getValue('begun')
    const moving = archive()
    archiving.push(moving)
    await Promise.race([moving, untilWaiting()])
    const [order] = await it.orders.find({ ids })
    if (order) await it.orders.update([{ ...order, refunds: 1 }])
  })
  await Promise.all(archiving)
  expect(archiving).toHaveLength(2)
  const found = await store.read((it) => it.orders.find({ ids }))
  expect(found).toMatchObject([{ refunds: 1, version: 2 }])
  await close()
})
