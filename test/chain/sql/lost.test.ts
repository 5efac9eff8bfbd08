import { type PostgresStoreParameters, postgresStore } from 'countersign/sql'
import { type PaymentStore, StoreError } from 'countersign/store'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  drawDestination,
  drawId,
  sampleEvent,
  sampleOrder,
} from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

type Pool = Extract<PostgresStoreParameters, { pool: unknown }>['pool']
type Request = Parameters<Awaited<ReturnType<Pool['connect']>>['query']>[0]

let database: TestDatabase
let connectionString: string
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await startDatabase()
  connectionString = await database.create('shop')
})

afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await database.stop()
})

function openStore(
  parameters: PostgresStoreParameters = { connectionString },
): PaymentStore {
  const store = postgresStore(parameters)
  closers.push(store.close)
  return store
}

/** A pool that asks in one's own way. */
function openPool(
  ask: (client: pg.PoolClient, request: Request) => Promise<object>,
): Pool {
  const pool = new pg.Pool({ connectionString })
  // It goes on hearing of lost connections while the server stops.
  pool.on('error', () => undefined)
  closers.push(() => pool.end())
  return {
    connect: async () => {
      const client = await pool.connect()
      return {
        query: (request) => ask(client, request),
        on: client.on.bind(client),
        removeListener: client.removeListener.bind(client),
        release: client.release.bind(client),
      }
    },
    on: pool.on.bind(pool),
    removeListener: pool.removeListener.bind(pool),
    end: () => pool.end(),
  }
}

/** Ends one connection on the server, and waits until it is gone. */
async function kill(client: pg.PoolClient): Promise<void> {
  const pid = Number(Reflect.get(client, 'processID'))
  await database.ask(`select pg_terminate_backend(${pid}, 10000)`)
}

const unsure = {
  name: 'StoreError',
  message: 'The store does not know whether the last write was saved.',
  retryable: true,
}

test.each(['before it is asked', 'before it is answered'] as const)(
  'a connection that ends at any statement, %s, costs nothing and doubles nothing',
  async (when) => {
    const own = openStore()
    await own.open()
    let asked = 0
    let killAt = Number.POSITIVE_INFINITY
    const texts: string[] = []
    const pool = openPool(async (client, request) => {
      const isNow = ++asked === killAt
      if (isNow) texts.push(request.text)
      if (isNow && when === 'before it is asked') await kill(client)
      const answer = await client.query(request)
      if (isNow && when === 'before it is answered') {
        await kill(client)
        throw new Error('Connection terminated unexpectedly')
      }
      return answer
    })
    const store = openStore({ pool })
    await store.open()
    const destination = drawDestination()
    const write = async (key: string) => {
      const wanted = { key, owner: 'one', milliseconds: 600_000 }
      const lease = await store.takeLease(wanted)
      await store.write(
        async (it) => {
          const { n = 0 } = (await it.getValue(key)) ?? {}
          await it.lock(key)
          await it.orders.insert([sampleOrder(destination)])
          await it.events.append([sampleEvent(destination)])
          await it.setValue(key, { n: Number(n) + 1 })
        },
        { lease },
      )
      if (lease) await store.releaseLease(lease)
    }
    asked = 0
    await write(drawId())
    const statements = asked
    const ends = { kept: 1, unsure: 0 }
    for (killAt = 1; killAt <= statements; killAt++) {
      asked = 0
      const key = drawId()
      const error = await write(key).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (error === undefined) {
        ends.kept++
        expect(await own.read((it) => it.getValue(key))).toEqual({ n: 1 })
      } else {
        ends.unsure++
        expect(error).toMatchObject(unsure)
        expect(texts.at(-1)).toMatch(/commit$/)
      }
    }
    expect(statements).toBeGreaterThan(12)
    // Each of the three units of work has one commit.
    expect(ends.unsure).toBe(3)
    const { drafted = 0 } = await own.read((it) =>
      it.orders.count([destination]),
    )
    expect(drafted).toBeGreaterThanOrEqual(ends.kept)
    expect(drafted).toBeLessThanOrEqual(ends.kept + ends.unsure)
  },
  60_000,
)

test('writers whose connections are ended again and again lose and double nothing', async () => {
  const stores = [openStore(), openStore()]
  await Promise.all(stores.map((store) => store.open()))
  const destination = drawDestination()
  const ends: unknown[] = []
  const writers = stores.flatMap((store) =>
    [1, 2, 3].map(async () => {
      for (let round = 0; round < 15; round++)
        ends.push(
          await store
            .write(async (it) => {
              const { n = 0 } = (await it.getValue('sum')) ?? {}
              await it.orders.insert([sampleOrder(destination)])
              await it.events.append([sampleEvent(destination)])
              await it.setValue('sum', { n: Number(n) + 1 })
            })
            .then(() => 'kept')
            .catch((error: unknown) => error),
        )
    }),
  )
  let isOver = false
  const all = Promise.all(writers).finally(() => {
    isOver = true
  })
  while (!isOver)
    await database.ask(`select pg_terminate_backend(pid), pg_sleep(0.1)
      from pg_stat_activity where usename = 'shop'`)
  await all
  const failed = ends.filter((end) => end !== 'kept')
  for (const error of failed) expect(error).toMatchObject({ retryable: true })
  const seen = await stores[0]?.read(async (it) => ({
    sum: Number((await it.getValue('sum'))?.n),
    orders: (await it.orders.count([destination])).drafted,
    events: (
      await it.events.find({
        destinations: [destination],
        after: 0n,
        limit: 999,
      })
    ).length,
  }))
  const sum = seen?.sum ?? 0
  expect(seen).toEqual({ sum, orders: sum, events: sum })
  expect(sum).toBeGreaterThanOrEqual(90 - failed.length)
  expect(sum).toBeLessThanOrEqual(90)
})

test('a statement that took longer than the server allows runs again', async () => {
  const holder = openStore()
  const order = sampleOrder(drawDestination())
  await holder.write((it) => it.orders.insert([order]))
  const store = openStore({
    connectionString: `${connectionString}?options=-c%20statement_timeout%3D400`,
  })
  await store.open()
  const ids = [order.id]
  let runs = 0
  let release = () => {}
  const isRun = new Promise<void>((resolve) => {
    release = resolve
  })
  let held = () => {}
  const isHeld = new Promise<void>((resolve) => {
    held = resolve
  })
  const first = holder.write(async (it) => {
    await it.orders.find({ ids })
    held()
    await isRun
  })
  await isHeld
  const second = store.write(async (it) => {
    if (++runs === 2) release()
    const [row] = await it.orders.find({ ids })
    if (row) await it.orders.update([{ ...row, tries: 7 }])
  })
  await second
  await first
  expect(runs).toBeGreaterThan(1)
  const [row] = await store.read((it) => it.orders.find({ ids }))
  expect(row).toMatchObject({ tries: 7, version: 2 })
})

test('what a server has no room for is told as that, and may be tried later', async () => {
  const pool = openPool((client, request) =>
    /insert into/.test(request.text)
      ? client.query(`do $$ begin raise disk_full; end $$`)
      : client.query(request),
  )
  await openStore().open()
  const store = openStore({ pool })
  const order = sampleOrder(drawDestination())
  const error = await store
    .write((it) => it.orders.insert([order]))
    .catch((error: unknown) => error)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({
    message: 'The store has no room left on its disk (53100).',
    retryable: true,
  })
})
