import { expect, test } from 'vitest'
import {
  connectionString,
  database,
  openPool,
  openStore,
  wait,
} from '../../chain/support/postgresStore.js'
import {
  drawDestination,
  sampleEvent,
  sampleOrder,
} from '../../storeCases/samples.js'

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
    message: 'The store does not know whether the last write was saved.',
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
