import { postgresStore, sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { resealOrders } from '../../../../src/orders/verbs/resealOrders.js'
import type { Sealer } from '../../../../src/store/types.js'
import { drawId } from '../../../storeCases/samples.js'
import { sqliteFile } from '../../support/chaos.js'
import { startDatabase, type TestDatabase } from '../../support/database.js'
import {
  insertSealed,
  keys,
  openAll,
  readRows,
  sealedContext,
  secretsOf,
} from '../../support/sealedRows.js'

let database: TestDatabase
const handles: PaymentStore[] = []

beforeAll(async () => {
  database = await startDatabase()
})

afterAll(async () => {
  for (const store of handles) await store.close()
  await database.stop()
})

const keep = (store: PaymentStore) => {
  handles.push(store)
  return store
}

/** Gives handles to one new database. */
const databases: [string, () => Promise<() => PaymentStore>][] = [
  [
    'memory',
    async () => {
      const store = memoryStore()
      return () => store
    },
  ],
  [
    'SQLite',
    async () => {
      const { file } = sqliteFile()
      return () => keep(sqliteStore({ file }))
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const connectionString = await database.create(drawId())
      return () => keep(postgresStore({ connectionString }))
    },
  ],
]

const countKeys = ({ store, destinations }: OrdersContext) =>
  store.read(({ secrets }) => secrets.countKeys(destinations))

/** Does something before the given call of `seal`. */
function beforeSeal(call: number, work: () => Promise<void> | void): Sealer {
  const both = sealer({ keys, current: 'two' })
  let calls = 0
  return {
    ...both,
    seal: async (secret, place) => {
      if (++calls === call) await work()
      return both.seal(secret, place)
    },
  }
}

test.each(databases)(
  'in %s, every secret is sealed again with the current key, and says the same',
  async (_, place) => {
    const open = await place()
    const store = open()
    const { ids, secrets } = await insertSealed(store, 130)
    const context = sealedContext(store)
    expect(await countKeys(context)).toEqual({ one: secrets })
    expect(await resealOrders(context, {})).toEqual({
      resealed: secrets,
      left: 0,
    })
    expect(await countKeys(context)).toEqual({ two: secrets })
    expect((await openAll(store, ids)).sort()).toEqual(secretsOf(130).sort())
    const before = await readRows(store, ids)
    expect(await resealOrders(context, {})).toEqual({ resealed: 0, left: 0 })
    expect(await readRows(store, ids)).toEqual(before)
  },
)

test.each(databases)(
  'in %s, a secret that was replaced or erased in between stays so',
  async (_, place) => {
    const open = await place()
    const [store, other] = [open(), open()]
    const { ids, secrets } = await insertSealed(store, 9)
    const rows = await readRows(store, ids)
    const [replaced, erased] = rows.attempts
    const context = sealedContext(
      store,
      beforeSeal(2, () =>
        other.write(async ({ attempts }) => {
          if (!replaced || !erased) throw new Error('No attempts.')
          await attempts.update([
            { ...replaced, signature: 'one 1 newer' },
            { ...erased, signature: undefined, cancellation: undefined },
          ])
        }),
      ),
    )
    const gone = [erased?.signature, erased?.cancellation].filter(
      Boolean,
    ).length
    expect(await resealOrders(context, {})).toEqual({
      resealed: secrets - 1 - gone,
      left: 0,
    })
    const { attempts } = await readRows(store, ids)
    const find = (one: typeof replaced) =>
      attempts.find(({ nonce }) => nonce === one?.nonce)
    expect(find(replaced)?.signature).toBe('one 1 newer')
    expect(find(erased)).toMatchObject({
      signature: undefined,
      cancellation: undefined,
    })
    expect(await countKeys(context)).toEqual({
      one: 1,
      two: secrets - 1 - gone,
    })
  },
)

test('a row that is written while secrets are written is not overwritten', async () => {
  const place = databases.find(([name]) => name === 'PostgreSQL')?.[1]
  const open = await place?.()
  const [store, other] = [open?.(), open?.()]
  if (!store || !other) throw new Error('No database.')
  const { ids, secrets } = await insertSealed(store, 3)
  let writes = 0
  const racing: PaymentStore = {
    ...store,
    write: (work, options) =>
      store.write((tables) => {
        const { attempts } = tables
        const find: typeof attempts.find = async (query) => {
          const rows = await attempts.find(query)
          // After this unit of work has read the rows, and before it writes.
          if (++writes === 1)
            await other.write(async (theirs) => {
              const [row] = await theirs.attempts.find({ orderIds: ids })
              if (row) await theirs.attempts.update([{ ...row, value: 7n }])
            })
          return rows
        }
        return work({ ...tables, attempts: { ...attempts, find } })
      }, options),
  }
  const report = await resealOrders(sealedContext(racing), {})
  expect(writes).toBe(2)
  expect(report).toEqual({ resealed: secrets, left: 0 })
  const { attempts } = await readRows(store, ids)
  expect(attempts.filter(({ value }) => value === 7n)).toHaveLength(1)
  expect(await countKeys(sealedContext(store))).toEqual({ two: secrets })
})

test.each(databases)(
  'in %s, two at once seal each secret again once',
  async (_, place) => {
    const open = await place()
    const stores = [open(), open()]
    const [store = open()] = stores
    const { ids, secrets } = await insertSealed(store, 120)
    const reports = await Promise.all(
      stores.map((one) => resealOrders(sealedContext(one), {})),
    )
    const sum = reports.reduce((total, { resealed }) => total + resealed, 0)
    expect(sum).toBe(secrets)
    expect(reports.map(({ left }) => left)).toEqual([0, 0])
    expect(await countKeys(sealedContext(store))).toEqual({ two: secrets })
    expect((await openAll(store, ids)).sort()).toEqual(secretsOf(120).sort())
  },
)

test.each(databases)(
  'in %s, what was stopped is finished by the next call',
  async (_, place) => {
    const store = (await place())()
    const { ids, secrets } = await insertSealed(store, 120)
    const stop = new AbortController()
    const seal = beforeSeal(100, () => stop.abort(new Error('enough')))
    const stopping = { ...sealedContext(store, seal), signal: stop.signal }
    await expect(resealOrders(stopping, {})).rejects.toThrow('enough')
    const context = sealedContext(store)
    const { one = 0, two = 0 } = await countKeys(context)
    expect(two).toBeGreaterThan(0)
    expect(one).toBeGreaterThan(0)
    expect(await resealOrders(context, {})).toEqual({ resealed: one, left: 0 })
    expect(await countKeys(context)).toEqual({ two: secrets })
    expect((await openAll(store, ids)).sort()).toEqual(secretsOf(120).sort())
  },
)

test('secrets of a key that cannot be fetched, and broken ones, are left, and the others go on', async () => {
  const store = memoryStore()
  const first = await insertSealed(store, 60)
  const third = new Uint8Array(32).fill(3)
  const all = { ...keys, three: third }
  const others = await insertSealed(
    store,
    60,
    sealer({ keys: all, current: 'three' }),
  )
  await store.write(async ({ attempts }) => {
    const [row] = await attempts.find({ orderIds: others.ids.slice(1, 2) })
    if (row) await attempts.update([{ ...row, signature: 'three 1 broken' }])
  })
  let isDown = true
  const one = async () => {
    if (isDown) throw new Error('down')
    return keys.one
  }
  const seal = sealer({ keys: { ...all, one }, current: 'two' })
  const context = sealedContext(store, seal)
  expect(await resealOrders(context, {})).toEqual({
    resealed: others.secrets - 1,
    left: first.secrets + 1,
  })
  expect(await countKeys(context)).toEqual({
    one: first.secrets,
    two: others.secrets - 1,
    three: 1,
  })
  isDown = false
  // A key that could not be fetched is tried again after a pause, so one call
  // may find it and the next one the rest: they are added up.
  let resealed = 0
  await expect
    .poll(
      async () => {
        const report = await resealOrders(context, {})
        resealed += report.resealed
        return { resealed, left: report.left }
      },
      { timeout: 60_000, interval: 500 },
    )
    .toEqual({ resealed: first.secrets, left: 1 })
})
