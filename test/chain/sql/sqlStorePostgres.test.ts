import { CountersignError } from 'countersign'
import { type PostgresStoreParameters, postgresStore } from 'countersign/sql'
import {
  LeaseLostError,
  type PaymentStore,
  StoreError,
} from 'countersign/store'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  drawDestination,
  drawSubmitter,
  sampleEvent,
  sampleOrder,
} from '../../../src/testing/storeCasesSamples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'
import { startTcpProxy } from '../support/tcpProxy.js'

let database: TestDatabase
let connectionString: string
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await startDatabase()
  connectionString = await database.create('shop')
})

afterAll(async () => {
  for (const close of closers) await close()
  await database.stop()
})

/** A store that is closed at the end. */
function openStore(
  parameters: PostgresStoreParameters = { connectionString },
): PaymentStore {
  const store = postgresStore(parameters)
  closers.push(store.close)
  return store
}

function openPool(config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, ...config })
  closers.push(() => pool.end())
  return pool
}

/** A promise to be kept from outside. */
function defer() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

const wait = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

test('two workers claim what is due side by side, and nothing twice', async () => {
  const [left, right] = [openStore(), openStore()]
  const { account, chainId } = drawSubmitter()
  const destination = drawDestination({ chainId })
  const rows = Array.from({ length: 30 }, (_, index) =>
    sampleOrder(destination, {
      submitter: account,
      sendDue: 1n,
      lookDue: 1n,
      deadline: BigInt(index),
    }),
  )
  await left.write((it) => it.orders.insert(rows))
  const queries = [
    {
      sendDue: { chainId, account },
      recipients: [destination.recipient],
      until: 1n,
      limit: 20,
    },
    { lookDue: destination, until: 1n, limit: 20 },
  ]
  for (const query of queries) {
    const [claims, ends] = [defer(), defer()]
    const first = left.write(async (it) => {
      const found = await it.orders.find(query)
      claims.open()
      await ends.opened
      return found
    })
    await claims.opened
    const second = await right.write((it) => it.orders.find(query))
    const seen = await right.read((it) => it.orders.find(query))
    ends.open()
    const claimed = [...(await first), ...second].map(({ id }) => id)
    expect(claimed).toEqual(rows.map(({ id }) => id))
    expect(seen).toHaveLength(20)
  }
})

test('what one unit of work holds by id, another waits for and sees as it was left', async () => {
  const [left, right] = [openStore(), openStore()]
  const order = sampleOrder(drawDestination())
  const ids = [order.id]
  await left.write((it) => it.orders.insert([order]))
  const held = defer()
  const first = left.write(async (it) => {
    const rows = await it.orders.find({ ids })
    held.open()
    await wait(80)
    await it.orders.update(rows.map((row) => ({ ...row, tries: 1 })))
  })
  await held.opened
  const [row] = await right.write((it) => it.orders.find({ ids }))
  await first
  expect(row).toMatchObject({ tries: 1, version: 2 })
})

test('units of work that wait for each other in a circle both get through', async () => {
  const store = openStore()
  const orders = [
    sampleOrder(drawDestination()),
    sampleOrder(drawDestination()),
  ]
  await store.write((it) => it.orders.insert(orders))
  const bothHold = defer()
  let runs = 0
  const lockBoth = ([first, second]: readonly (readonly string[])[]) =>
    store.write(async (it) => {
      await it.orders.find({ ids: first ?? [] })
      if (++runs === 2) bothHold.open()
      await bothHold.opened
      await it.orders.find({ ids: second ?? [] })
    })
  const ids = orders.map(({ id }) => [id])
  await Promise.all([lockBoth(ids), lockBoth([...ids].reverse())])
  expect(runs).toBe(3)
})

test('a lease is not taken under the hands of who writes under it', async () => {
  const [left, right] = [openStore(), openStore()]
  const mine = { key: 'submitter', owner: 'left', milliseconds: 60_000 }
  const lease = await left.takeLease(mine)
  const [begins, ends] = [defer(), defer()]
  const unit = left.write(
    async (it) => {
      begins.open()
      await ends.opened
      await it.setValue('written', { by: 'left' })
    },
    { lease },
  )
  await begins.opened
  // Its owner does not wait, even for one that runs out at once.
  expect(await left.takeLease({ ...mine, milliseconds: 1 })).toEqual(lease)
  await wait(20)
  const taking = right.takeLease({ ...mine, owner: 'right' })
  expect(await Promise.race([taking, wait(100)])).toBeUndefined()
  ends.open()
  const taken = await taking
  expect(await right.read((it) => it.getValue('written'))).toEqual({
    by: 'left',
  })
  await unit
  expect(taken?.fence).toBeGreaterThan(lease?.fence ?? 0n)
  await expect(
    left.write((it) => it.setValue('written', { by: 'nobody' }), { lease }),
  ).rejects.toThrow(LeaseLostError)
  expect(await right.read((it) => it.getValue('written'))).toEqual({
    by: 'left',
  })
})

test('a setting that was read is not written over another one', async () => {
  const [left, right] = [openStore(), openStore()]
  const count = (store: PaymentStore) =>
    store.write(async (it) => {
      const { n = 0 } = (await it.getValue('count')) ?? {}
      await wait(5)
      await it.setValue('count', { n: Number(n) + 1 })
    })
  await Promise.all([left, right, left, right, left, right].map(count))
  expect(await left.read((it) => it.getValue('count'))).toEqual({ n: 6 })
})

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

test('work whose connection is lost before its end runs again, and is kept once', async () => {
  const store = openStore()
  const destination = drawDestination()
  let runs = 0
  await store.write(async (it) => {
    await it.orders.insert([sampleOrder(destination)])
    if (runs++ === 0)
      await database.ask(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = 'shop' and state = 'idle in transaction'`,
      )
    await it.events.append([sampleEvent(destination)])
  })
  expect(runs).toBe(2)
  expect(await store.read((it) => it.orders.count([destination]))).toEqual({
    drafted: 1,
  })
})

test('a write whose confirmation is lost is not run again, and says so', async () => {
  const pool = openPool()
  const connect = async () => {
    const client = await pool.connect()
    const query = async (request: { text: string }) => {
      const answer = await client.query(request)
      if (!/notify .*commit/.test(request.text)) return answer
      throw new Error('Connection terminated unexpectedly')
    }
    return {
      query,
      on: client.on.bind(client),
      removeListener: client.removeListener.bind(client),
      release: client.release.bind(client),
    }
  }
  const own = openStore()
  await own.open()
  const store = openStore({
    pool: {
      connect,
      on: pool.on.bind(pool),
      removeListener: pool.removeListener.bind(pool),
      end: () => pool.end(),
    },
  })
  let runs = 0
  const unit = store.write(async (it) => {
    runs++
    await it.setValue('confirmed', { runs })
  })
  await expect(unit).rejects.toMatchObject({
    name: 'StoreError',
    retryable: true,
    message: 'The store cannot say whether the last write was kept.',
  })
  expect(runs).toBe(1)
  expect(await own.read((it) => it.getValue('confirmed'))).toEqual({ runs: 1 })
})

test('a database that restarts in the middle keeps all that was confirmed, once', async () => {
  const store = openStore()
  const destination = drawDestination()
  const { identity } = await store.open()
  const outcomes = Array.from({ length: 40 }, async (_, index) => {
    await wait(index * 10)
    return store
      .write((it) => it.orders.insert([sampleOrder(destination)]))
      .then(() => 'kept')
      .catch((error: unknown) => error)
  })
  await wait(100)
  await database.restart()
  const ends = await Promise.all(outcomes)
  const unsure = ends.filter((end) => end !== 'kept')
  for (const error of unsure)
    expect(error).toMatchObject({ name: 'StoreError', retryable: true })
  const { drafted = 0 } = await store.read((it) =>
    it.orders.count([destination]),
  )
  expect(drafted).toBeGreaterThanOrEqual(40 - unsure.length)
  expect(drafted).toBeLessThanOrEqual(40)
  expect(unsure.length).toBeLessThan(5)
  expect((await openStore().open()).identity).toBe(identity)
})

test('a database that was dumped and restored has another identity', async () => {
  const store = openStore({ connectionString, schema: 'original' })
  const { identity } = await store.open()
  await store.write((it) => it.setValue('a', { kept: true }))
  const url = await database.create('restored')
  // What a dump holds: the definitions and the rows, not the storage.
  await openStore({ connectionString: url, schema: 'original' }).open()
  await database.ask(
    `insert into original.settings (key, value) values ('a', '{"kept":true}')`,
    'restored',
  )
  const restored = openStore({ connectionString: url, schema: 'original' })
  expect(await restored.read((it) => it.getValue('a'))).toEqual({ kept: true })
  expect((await restored.open()).identity).not.toBe(identity)
  const again = openStore({ connectionString, schema: 'original' })
  expect((await again.open()).identity).toBe(identity)
})

test('a process does not go on in a backup that was put in place meanwhile', async () => {
  const schema = 'replaced'
  const store = openStore({ connectionString, schema })
  await store.write((it) => it.setValue('a', { newest: true }))
  // As a dump is put back; no connection is lost by that.
  await database.ask(`drop schema ${schema} cascade`, 'shop', 'shop')
  const restored = openStore({ connectionString, schema })
  await restored.write((it) => it.setValue('a', { newest: false }))
  const gone = {
    message:
      'The store lost its database, and another one is in its place, as after a restore: restart the process.',
    retryable: false,
  }
  await expect(
    store.write((it) => it.setValue('a', { newest: true })),
  ).rejects.toMatchObject(gone)
  await expect(store.read((it) => it.getValue('a'))).rejects.toMatchObject(gone)
  await expect(
    store.takeLease({ key: 'a', owner: 'a', milliseconds: 1 }),
  ).rejects.toMatchObject(gone)
  expect(await restored.read((it) => it.getValue('a'))).toEqual({
    newest: false,
  })
})

test('a closed store answers no more, and may be closed again', async () => {
  const store = openStore()
  await store.open()
  await Promise.all([store.close(), store.close()])
  await expect(store.read((it) => it.getValue('a'))).rejects.toThrow(
    'The store is closed.',
  )
})

test('a user without rights to make tables works with those that are there', async () => {
  const owner = openStore({ connectionString, schema: 'ruled' })
  await owner.open()
  await database.ask(
    `create role clerk login password 'clerk';
      grant usage on schema ruled to clerk;
      grant select, insert, update on all tables in schema ruled to clerk;
      grant delete on ruled.leases to clerk`,
    'shop',
  )
  const clerk = connectionString.replace('shop:shop', 'clerk:clerk')
  const store = openStore({ connectionString: clerk, schema: 'ruled' })
  const destination = drawDestination()
  await store.write((it) => it.orders.insert([sampleOrder(destination)]))
  const wanted = { key: 'submitter', owner: 'clerk', milliseconds: 60_000 }
  for (let rounds = 0; rounds < 2; rounds++) {
    const lease = await store.takeLease(wanted)
    if (lease) await store.releaseLease(lease)
  }
  expect(await store.read((it) => it.orders.count([destination]))).toEqual({
    drafted: 1,
  })
  const barred = openStore({ connectionString: clerk, schema: 'elsewhere' })
  await expect(barred.open()).rejects.toThrow(
    'The store was refused by its database (42501).',
  )
})

test('writes wait for the disk whatever the user has set', async () => {
  await database.ask('alter role shop set synchronous_commit = off')
  const pool = openPool({ max: 1 })
  const store = openStore({ pool, schema: 'durable' })
  const client = await pool.connect()
  const look = async () =>
    (await client.query('show synchronous_commit')).rows[0]
  const seen = [await look()]
  client.release()
  await store.write(async (it) => {
    await it.setValue('a', {})
    // The pool has no other connection than this one.
    seen.push(await look())
  })
  await database.ask('alter role shop reset synchronous_commit')
  expect(seen).toEqual([
    { synchronous_commit: 'off' },
    { synchronous_commit: 'on' },
  ])
})

test('a server that does not wait for its disk is refused', async () => {
  await database.restart(['-c', 'fsync=off'])
  const error = await openStore()
    .open()
    .catch((error: unknown) => error)
  await database.restart()
  expect(error).toBeInstanceOf(StoreError)
  expect(String(error)).toContain(
    'The store needs a server with fsync = on, and this one has off.',
  )
})

test('a wrong password is told at once, and no word of it', async () => {
  const { port, host } = new URL(connectionString)
  const proxy = await startTcpProxy(`ws://${host}`)
  const wrong = connectionString
    .replace('shop:shop', 'shop:hunter2')
    .replace(`:${port}/`, `:${new URL(proxy.url).port}/`)
  const error = await openStore({ connectionString: wrong })
    .open()
    .catch((error: unknown) => error)
  // What may pass is tried again, over another connection each time.
  expect(proxy.count()).toBe(1)
  expect(error).toMatchObject({
    message:
      'The store was refused by its database (28P01): check the user and the password.',
    retryable: false,
  })
})
