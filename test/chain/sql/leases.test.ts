import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore, sqliteStore } from 'countersign/sql'
import { LeaseLostError, type PaymentStore } from 'countersign/store'
import Database from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawId } from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-leases-'))
let database: TestDatabase

beforeAll(async () => {
  database = await startDatabase()
})

afterAll(async () => {
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** An empty database, handles to it, and a way around them. */
type Place = {
  open(): Promise<PaymentStore>
  ask(text: string): Promise<unknown[]>
  close(): Promise<void>
}

const places: [string, () => Promise<Place>][] = [
  [
    'SQLite',
    async () => {
      const file = join(folder, `${drawId()}.db`)
      const ask = async (text: string) => {
        const sqlite = new Database(file)
        const rows: unknown[] = sqlite.prepare(text).all()
        sqlite.close()
        return rows
      }
      return placeOf(() => sqliteStore({ file }), ask)
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const name = drawId()
      const connectionString = await database.create(name)
      const ask = (text: string) => database.ask(text, name, 'shop')
      const schema = 'public'
      return placeOf(() => postgresStore({ connectionString, schema }), ask)
    },
  ],
]

function placeOf(create: () => PaymentStore, ask: Place['ask']): Place {
  const stores: PaymentStore[] = []
  return {
    ask,
    open: async () => {
      const store = create()
      stores.push(store)
      await store.open()
      return store
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()))
    },
  }
}

const long = 600_000

async function take(store: PaymentStore, key: string, owner: string) {
  const lease = await store.takeLease({ key, owner, milliseconds: long })
  if (!lease) throw new Error(`${key} is not free`)
  return lease
}

test.each(places)(
  'in %s, orders that were accepted leave no lease behind',
  async (_, place) => {
    const { open, ask, close } = await place()
    const [store, other] = [await open(), await open()]
    await take(store, 'submitter', 'one')
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const lease = await take(at % 2 ? store : other, `accept:${at}`, 'it')
        await other.releaseLease(lease)
      }),
    )
    expect(await ask('select key from leases')).toEqual([{ key: 'submitter' }])
    await close()
  },
)

test.each(places)(
  'in %s, no fence is given twice by many that take and give back one lease at once',
  async (_, place) => {
    const { open, close } = await place()
    const stores = [await open(), await open(), await open()]
    const fences: bigint[] = []
    await Promise.all(
      stores.map(async (store, at) => {
        for (let taken = 0; taken < 25; ) {
          const wanted = {
            key: 'submitter',
            owner: `${at}`,
            milliseconds: long,
          }
          const lease = await store.takeLease(wanted)
          if (!lease) continue
          taken++
          fences.push(lease.fence)
          await store.write((it) => it.setValue('by', { at }), { lease })
          await store.releaseLease(lease)
          const late = store.write((it) => it.setValue('by', {}), { lease })
          await expect(late).rejects.toThrow(LeaseLostError)
        }
      }),
    )
    expect(fences).toHaveLength(75)
    expect(fences).toEqual(
      [...new Set(fences)].sort((left, right) => (left < right ? -1 : 1)),
    )
    await close()
  },
  60_000,
)

test.each(places)(
  'in %s, who starts clears away what the dead have left, some at a time',
  async (_, place) => {
    const { open, ask, close } = await place()
    const store = await open()
    const dead = await take(store, 'dead', 'one')
    const paused = await take(store, 'paused', 'one')
    await take(store, 'held', 'one')
    await ask(`insert into leases (key, owner, fence, expires)
      select 'old-' || key, owner, fence, 1 from leases returning key`)
    for (let rows = 6; rows < 1200; rows *= 2)
      await ask(`insert into leases (key, owner, fence, expires)
        select key || '-${rows}', owner, fence, 1 from leases returning key`)
    await ask(`update leases set expires = 1 where key = 'dead' returning key`)
    const hourAgo = BigInt(Date.now()) - 3_600_000n
    await ask(`update leases set expires = ${hourAgo}
      where key = 'paused' returning key`)
    const count = async () => (await ask('select key from leases')).length
    expect(await count()).toBe(1536)
    await open()
    expect(await count()).toBe(536)
    await open()
    expect(await ask('select key from leases order by key')).toEqual([
      { key: 'held' },
      { key: 'paused' },
    ])
    // Nobody took it meanwhile, so whoever was paused goes on.
    await store.write((it) => it.setValue('a', {}), { lease: paused })
    const late = store.write((it) => it.setValue('a', {}), { lease: dead })
    await expect(late).rejects.toThrow(LeaseLostError)
    const next = await take(store, 'dead', 'one')
    expect(next.fence).toBeGreaterThan(dead.fence)
    await close()
  },
)

test.each(places)(
  'in %s, a lease is given back after what is being written under it',
  async (_, place) => {
    const { open, close } = await place()
    const [store, other] = [await open(), await open()]
    const lease = await take(store, 'submitter', 'one')
    let release: Promise<void> | undefined
    const taken: unknown[] = []
    await store.write(
      async (it) => {
        await it.setValue('by', { owner: 'one' })
        release = other.releaseLease(lease).then(async () => {
          const { by } = await other.read(async (seen) => ({
            by: await seen.getValue('by'),
          }))
          taken.push((await take(other, 'submitter', 'two')).owner, by)
        })
      },
      { lease },
    )
    await release
    expect(taken).toEqual(['two', { owner: 'one' }])
    await close()
  },
)

test.each(places)(
  'in %s, a lease from before the clock was set back is not kept for the difference',
  async (_, place) => {
    const { open, ask, close } = await place()
    const [store, other] = [await open(), await open()]
    const mine = { key: 'submitter', owner: 'one', milliseconds: 15_000 }
    const lease = await store.takeLease(mine)
    const theirs = { ...mine, owner: 'two' }
    expect(await other.takeLease(theirs)).toBeUndefined()
    await ask('update leases set expires = expires + 3600000 returning key')
    const taken = await other.takeLease(theirs)
    expect(taken?.owner).toBe('two')
    expect(taken?.fence).toBeGreaterThan(lease?.fence ?? 0n)
    expect(await store.takeLease(mine)).toBeUndefined()
    await close()
  },
)
