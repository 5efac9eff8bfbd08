import { CountersignError } from 'countersign'
import type { PostgresStoreParameters } from 'countersign/sql'
import { StoreError } from 'countersign/store'
import pg from 'pg'
import { expect, test } from 'vitest'
import {
  drawDestination,
  sampleEvent,
  sampleOrder,
} from '../../storeCases/samples.js'
import {
  closers,
  connectionString,
  database,
  openPool,
  openStore,
  wait,
} from '../support/postgresStore.js'

test('one connection whose session is wiped after each transaction is enough', async () => {
  const pool = openPool({ max: 1 })
  // PgBouncer in transaction mode lends any session to any transaction.
  const connect = async () => {
    const client = await pool.connect()
    const release = (destroy?: boolean) => {
      if (destroy) client.release(true)
      else client.query('discard all').finally(() => client.release())
    }
    return {
      query: client.query.bind(client),
      on: client.on.bind(client),
      removeListener: client.removeListener.bind(client),
      release,
    }
  }
  const store = openStore({
    pool: {
      connect,
      on: pool.on.bind(pool),
      removeListener: pool.removeListener.bind(pool),
      end: () => pool.end(),
    },
    schema: 'pooled',
  })
  const destination = drawDestination()
  await Promise.all(
    Array.from({ length: 20 }, () =>
      store.write(async (it) => {
        await it.lock('name')
        await it.orders.insert([sampleOrder(destination)])
        await it.events.append([sampleEvent(destination)])
      }),
    ),
  )
  const seen = await store.read(async (it) => [
    await it.orders.count([destination]),
    (
      await it.events.find({
        destinations: [destination],
        after: 0n,
        limit: 99,
      })
    ).length,
  ])
  expect(seen).toEqual([{ drafted: 20 }, 20])
  expect(
    await store.takeLease({ key: 'a', owner: 'a', milliseconds: 1 }),
  ).toEqual({ key: 'a', owner: 'a', fence: expect.any(BigInt) })
})

test('a pool that fails to take a connection back undoes no answer', async () => {
  const pool = openPool({ max: 2 })
  const connect = async () => {
    const client = await pool.connect()
    return {
      query: client.query.bind(client),
      on: client.on.bind(client),
      removeListener: client.removeListener.bind(client),
      release: (destroy?: boolean) => {
        client.release(destroy)
        throw new Error('the pool has no place for it')
      },
    }
  }
  const store = openStore({
    pool: {
      connect,
      on: pool.on.bind(pool),
      removeListener: pool.removeListener.bind(pool),
      end: () => pool.end(),
    },
    schema: 'releases',
  })
  await store.write((it) => it.setValue('name', { is: 'kept' }))
  const value = await store.read((it) => it.getValue('name'))
  expect(value).toEqual({ is: 'kept' })
  const failing = store.write(async () => {
    throw new TypeError('of the caller')
  })
  await expect(failing).rejects.toThrow('of the caller')
})

test('a pool that reads numbers its own way changes no amount', async () => {
  const pool = openPool()
  pg.types.setTypeParser(1700, Number.parseFloat)
  pg.types.setTypeParser(20, Number)
  try {
    const store = openStore({ pool })
    const order = sampleOrder(drawDestination(), {
      value: 2n ** 256n - 1n,
      deadline: 2n ** 63n - 1n,
    })
    await store.write((it) => it.orders.insert([order]))
    const [row] = await store.read((it) => it.orders.find({ ids: [order.id] }))
    expect(row).toMatchObject({ value: order.value, deadline: order.deadline })
  } finally {
    pg.types.setTypeParser(1700, (text) => text)
    pg.types.setTypeParser(20, (text) => text)
  }
})

test('bytes come back as they were however the server writes them', async () => {
  await database.ask(`alter role shop set bytea_output = 'escape'`)
  try {
    const store = openStore({ connectionString, schema: 'escaped' })
    const order = sampleOrder(drawDestination())
    await store.write((it) => it.orders.insert([order]))
    const [row] = await store.read((it) => it.orders.find({ ids: [order.id] }))
    expect(row).toMatchObject({
      token: order.token,
      submitter: order.submitter,
    })
  } finally {
    await database.ask('alter role shop reset bytea_output')
  }
})

test('a schema of any name the server takes whole has tables of its own', async () => {
  const schemas = ['Shop', 'a"b', "it's", 'a,b', 'a.b', 'é'.repeat(31)]
  for (const schema of schemas) {
    const store = openStore({ connectionString, schema })
    await store.write((it) => it.setValue('whose', { schema }))
  }
  for (const schema of schemas) {
    const store = openStore({ connectionString, schema })
    const value = await store.read((it) => it.getValue('whose'))
    expect(value).toEqual({ schema })
  }
  // Cut to what the server takes, these two would be one.
  for (const schema of [`${'y'.repeat(63)}1`, 'é'.repeat(32), '', '$user'])
    expect(() => openStore({ connectionString, schema })).toThrow(
      /^schema must be a name of 1 to 63 bytes/,
    )
})

test.each<[string, unknown]>([
  ['nothing', null],
  ['no address', {}],
  ['an address that is not there', { connectionString: undefined }],
  ['an empty address', { connectionString: '' }],
  ['a number', { connectionString: 5 }],
  ['something else as a pool', { pool: {} }],
  ['a number to listen', { connectionString: 'postgres://a', listen: 5 }],
  ['a schema without a name', { connectionString: 'postgres://a', schema: 5 }],
])('%s is refused before anything is asked', (_, given) => {
  // The driver goes to a server of this machine when it is told of none.
  expect(() => openStore(given as PostgresStoreParameters)).toThrow(
    CountersignError,
  )
})

test('an address that cannot be read, and a client in place of a pool, are told without a password', async () => {
  const client = new pg.Client({ connectionString })
  closers.push(() => client.end())
  const stores = [
    openStore({
      connectionString: 'postgres://shop:hunter@2@127.0.0.1:x/shop',
    }),
    openStore({ pool: client as never }),
  ]
  for (const store of stores) {
    const error: unknown = await store.open().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(StoreError)
    expect(String(Object(error).stack) + JSON.stringify(error)).not.toContain(
      'hunter',
    )
    expect(error).toMatchObject({
      message:
        'The store cannot connect with the address or pool it was given.',
      retryable: false,
    })
  }
})

test('who listens hears of writes of others, also after the connection was lost', async () => {
  const store = openStore({ connectionString, listen: connectionString })
  const other = openStore()
  await other.open()
  let heard = 0
  const stop = store.onChange?.(() => heard++)
  const hearsMore = async (than: number) => {
    for (let tries = 0; heard <= than && tries < 300; tries++) await wait(10)
    return heard > than
  }
  // The first call says that it listens by now.
  expect(await hearsMore(0)).toBe(true)
  await other.write((it) => it.setValue('told', {}))
  expect(await hearsMore(1)).toBe(true)
  await other.write((it) => it.getValue('told'))
  await other.read((it) => it.getValue('told'))
  const lease = await other.takeLease({
    key: 'watch',
    owner: 'one',
    milliseconds: 60_000,
  })
  // What a worker keeps under its lease, and what the store itself wrote.
  await other.write((it) => it.setValue('place', {}), { lease })
  await store.write((it) => it.setValue('told', {}))
  await wait(50)
  expect(heard).toBe(2)
  await database.ask(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where query like 'listen%'`,
  )
  expect(await hearsMore(2)).toBe(true)
  await other.write((it) => it.setValue('told', {}))
  expect(await hearsMore(3)).toBe(true)
  stop?.()
})
