import { postgresStore } from 'countersign/sql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  drawDestination,
  drawId,
  sampleAttempt,
  sampleOrder,
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
  return { store, sale, refund, archive, close }
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
