import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { StoreError } from 'countersign/store'
import { sql } from 'kysely'
import Database from 'libsql'
import { afterAll, expect, test } from 'vitest'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import {
  drawDestination,
  drawId,
  sampleAttempt,
  sampleEvent,
  sampleOrder,
  sampleProof,
} from '../../storeCases/samples.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-sqlite-'))
const newFile = () => join(folder, `${drawId()}.db`)
const children: ChildProcess[] = []

const destination = {
  chainId: 1,
  token: `0x${'1'.repeat(40)}`,
  recipient: `0x${'2'.repeat(40)}`,
} as const

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function startWriter(file: string, ...words: string[]): ChildProcess {
  const args = ['--import', 'tsx', 'test/chain/support/sqliteWriter.ts', file]
  const child = spawn(process.execPath, [...args, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

test('processes that write to one file at once lose nothing and leave no gap', async () => {
  const file = newFile()
  const writers = [1, 2, 3].map(() => startWriter(file, '60'))
  const codes = await Promise.all(
    writers.map(async (writer) => (await once(writer, 'exit'))[0]),
  )
  expect(codes).toEqual([0, 0, 0])
  const store = sqliteStore({ file })
  const seen = await store.read(async (it) => ({
    count: await it.getValue('rounds'),
    orders: await it.orders.count([destination]),
    events: await it.events.find({
      destinations: [destination],
      after: 0n,
      limit: 999,
    }),
  }))
  expect(seen.count).toEqual({ count: 180 })
  expect(seen.orders).toEqual({ drafted: 180 })
  expect(seen.events.map(({ cursor }) => cursor)).toEqual(
    Array.from({ length: 360 }, (_, index) => BigInt(index + 1)),
  )
  await store.close()
})

test('a process killed while it writes leaves nothing of it, and no lock', async () => {
  const file = newFile()
  const store = sqliteStore({ file })
  await store.open()
  const writer = startWriter(file, '1', 'hang')
  if (writer.stdout) await once(writer.stdout, 'data')
  const before = store.write((it) =>
    it.orders.insert([sampleOrder(destination)]),
  )
  const early = await Promise.race([
    before.then(() => 'written'),
    new Promise((resolve) => setTimeout(resolve, 100, 'waits')),
  ])
  expect(early).toBe('waits')
  writer.kill('SIGKILL')
  await before
  expect(await store.read((it) => it.orders.count([destination]))).toEqual({
    drafted: 1,
  })
  expect(await store.read((it) => it.getValue('rounds'))).toBeUndefined()
  await store.close()
})

test('who waits for another process leaves this one its time', async () => {
  const file = newFile()
  const store = sqliteStore({ file })
  await store.open()
  const other = new Database(file)
  other.exec('begin immediate')
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  const write = store.write((it) => it.setValue('a', {}))
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(await store.read((it) => it.getValue('a'))).toBeUndefined()
  other.exec('commit')
  await write
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(5)
  expect(await store.read((it) => it.getValue('a'))).toEqual({})
  other.close()
  await store.close()
})

test('a copy of a file has an identity of its own, the file keeps its own', async () => {
  const [file, copy] = [newFile(), newFile()]
  const identify = async (path: string) => {
    const store = sqliteStore({ file: path })
    const { identity } = await store.open()
    await store.write((it) => it.setValue('a', { path }))
    await store.close()
    return identity
  }
  const first = await identify(file)
  expect(await identify(file)).toBe(first)
  copyFileSync(file, copy)
  expect(await identify(copy)).not.toBe(first)
  rmSync(file)
  copyFileSync(copy, file)
  expect(await identify(file)).not.toBe(first)
})

test('whoever has read the original skips no event of a copy that takes its place', async () => {
  const [file, copy] = [newFile(), newFile()]
  const destination = drawDestination()
  const append = async (path: string, count: number) => {
    const store = sqliteStore({ file: path })
    const rows = Array.from({ length: count }, () => sampleEvent(destination))
    await store.write((it) => it.events.append(rows))
    const [newest] = await store.read((it) =>
      it.events.find({ newest: [destination] }),
    )
    await store.close()
    return newest?.cursor ?? 0n
  }
  await append(file, 2)
  copyFileSync(file, copy)
  const read = await append(file, 50)
  const next = await append(copy, 1)
  expect(next).toBeGreaterThan(read)
  // In the copy they go on one by one again.
  expect(await append(copy, 1)).toBe(next + 1n)
})

test('a closed store is whole in its one file, also while another reads it', async () => {
  const [file, copy] = [newFile(), newFile()]
  const [store, other] = [sqliteStore({ file }), sqliteStore({ file })]
  await store.open()
  await other.open()
  await store.write((it) => it.setValue('a', { is: 'kept' }))
  expect(await other.read((it) => it.getValue('a'))).toEqual({ is: 'kept' })
  await store.close()
  copyFileSync(file, copy)
  await other.close()
  const copied = sqliteStore({ file: copy })
  await copied.open()
  expect(await copied.read((it) => it.getValue('a'))).toEqual({ is: 'kept' })
  await copied.close()
})

test('only a file on disk is taken, and one that can be made', async () => {
  for (const file of ['', ':memory:', 'file:orders.db?mode=memory', 'a\0b'])
    expect(() => sqliteStore({ file })).toThrow(StoreError)
  for (const given of [undefined, {}, { file: 7 }])
    expect(() => sqliteStore(given as never)).toThrow(StoreError)
  const store = sqliteStore({ file: join(folder, 'none', 'orders.db') })
  const error = await store.open().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ retryable: false })
  await store.close()
})

test('a connection that would not wait for the disk is refused', async () => {
  const engine = sqliteEngine({ file: newFile() })
  const weaken = (pragma: string) =>
    engine.connect('write', async (session) => {
      await engine.assertDurable(session)
      await sql.raw(`pragma ${pragma}`).execute(session)
      await engine.assertDurable(session)
    })
  await expect(weaken('synchronous = normal')).rejects.toThrow(
    'The store needs synchronous = FULL, and has 1.',
  )
  await engine.connect('write', (session) =>
    sql`pragma synchronous = full`.execute(session),
  )
  await expect(weaken('journal_mode = delete')).rejects.toThrow(
    "The store needs a write-ahead log, and its file has 'delete'.",
  )
  await engine.close()
})

test('a write of many rows that fails half-way is not kept by what runs beside it', async () => {
  const store = sqliteStore({ file: newFile() })
  const [first, second] = [sampleOrder(destination), sampleOrder(destination)]
  await store.write((it) => it.orders.insert([first]))
  const unit = store.write((it) =>
    Promise.all([
      it.orders.insert([first]),
      it.orders.insert([second]),
      it.setValue('a', {}),
    ]),
  )
  await expect(unit).rejects.toThrow('The table orders already has this row.')
  const kept = await store.read(async (it) => [
    await it.orders.count([destination]),
    await it.getValue('a'),
  ])
  expect(kept).toEqual([{ drafted: 1 }, undefined])
  await store.close()
})

test('a value of a kind the engine cannot bear ends the call, not the process', async () => {
  const store = sqliteStore({ file: newFile() })
  const before = true as never
  await expect(
    store.read((it) =>
      it.orders.find({ listed: [destination], before, limit: 1 }),
    ),
  ).rejects.toThrow(
    'The store got an error from its database (SQLITE_MISMATCH).',
  )
  expect(await store.read((it) => it.orders.count([destination]))).toEqual({})
  await store.close()
})

test('text that would be cut, or end the process when it is read, is refused', async () => {
  const store = sqliteStore({ file: newFile() })
  for (const tokenName of ['USD\0Coin', 'USD\ud800Coin', '\udc00']) {
    const order = sampleOrder(destination, { tokenName })
    await expect(
      store.write((it) => it.orders.insert([order])),
    ).rejects.toThrow('The store cannot keep text that is not well-formed.')
  }
  const whole = sampleOrder(destination, { tokenName: '\ufeffUSD 🧾 Coin' })
  await store.write((it) => it.orders.insert([whole]))
  expect(
    await store.read((it) => it.orders.find({ ids: [whole.id, '\ud800\0'] })),
  ).toMatchObject([{ tokenName: whole.tokenName }])
  await store.close()
})

test('what was erased is in no file any more once the store is closed', async () => {
  const file = newFile()
  const store = sqliteStore({ file })
  const orders = Array.from({ length: 20 }, () => sampleOrder(destination))
  const orderIds = orders.map(({ id }) => id)
  // Within a page of the file, and over several.
  const sizes = [500, 9_000]
  const attempts = orders.map((order, at) => {
    const signature = 'secret'.padEnd(sizes[at % 2] ?? 0, `${at}`)
    return sampleAttempt(order, { signature })
  })
  const count = () => readFileSync(file, 'latin1').split('secret').length - 1
  await store.write(async (it) => {
    await it.orders.insert(orders)
    await it.attempts.insert(attempts)
  })
  await store.close()
  expect(count()).toBe(20)
  const later = sqliteStore({ file })
  await later.write(async (it) => {
    const rows = await it.attempts.find({ orderIds })
    const erased = rows.map((row) => ({ ...row, signature: undefined }))
    await it.attempts.update(erased)
  })
  await later.close()
  expect(count()).toBe(0)
  expect(readFileSync(`${file}-wal`)).toHaveLength(0)
})

test('a query takes more destinations than the engine takes queries in a union', async () => {
  const store = sqliteStore({ file: newFile() })
  const destinations = Array.from({ length: 600 }, () => drawDestination())
  const orders = [0, 249, 250, 599].map((at) =>
    sampleOrder(destinations[at] ?? destination),
  )
  await store.write(async (it) => {
    await it.orders.insert(orders)
    await it.proofs.insert(
      orders.map((order) => sampleProof(order, { orderId: order.id })),
    )
    await it.events.append(orders.map((order) => sampleEvent(order)))
  })
  const ids = orders.map(({ id }) => id)
  const seen = await store.read(async (it) => ({
    counts: await it.orders.count(destinations),
    listed: await it.orders.find({ listed: destinations, limit: 3 }),
    proofs: await it.proofs.find({ destinations, limit: 9 }),
    events: await it.events.find({ destinations, after: 1n, limit: 2 }),
    newest: await it.events.find({ newest: destinations }),
  }))
  expect({
    ...seen,
    listed: seen.listed.map(({ id }) => id),
    proofs: seen.proofs.map(({ orderId }) => orderId).sort(),
    events: seen.events.map(({ cursor }) => cursor),
    newest: seen.newest.map(({ cursor }) => cursor),
  }).toEqual({
    counts: { drafted: 4 },
    listed: ids.slice(1).reverse(),
    proofs: [...ids].sort(),
    events: [2n, 3n],
    newest: [4n],
  })
  await store.close()
})

test('what the database refuses is told without what it was given', async () => {
  const store = sqliteStore({ file: newFile() })
  const huge = sampleOrder(destination, { deadline: 2n ** 63n })
  await expect(store.write((it) => it.orders.insert([huge]))).rejects.toThrow(
    'The store cannot keep 9223372036854775808 (bigint) as a 64-bit integer.',
  )
  const secret = 'sealed-secret'
  const wrong = {
    ...sampleOrder(destination),
    reason: secret,
    metadata: undefined,
  }
  const error: unknown = await store
    .write((it) => it.orders.insert([wrong as never]))
    .catch((error: unknown) => error)
  expect(error).toBeInstanceOf(StoreError)
  expect(String(Object(error).stack) + JSON.stringify(error)).not.toContain(
    secret,
  )
  await store.close()
})

test('a closed store answers no more', async () => {
  const store = sqliteStore({ file: newFile() })
  await store.open()
  await store.close()
  await store.close()
  await expect(store.read((it) => it.getValue('a'))).rejects.toThrow(
    'The store is closed.',
  )
})

test('writes that wait for each other share commits, and each is all or nothing', async () => {
  const file = newFile()
  const [store, other] = [sqliteStore({ file }), sqliteStore({ file })]
  const rows = Array.from({ length: 60 }, () => sampleOrder(destination))
  const fails = (index: number) => index % 5 === 4
  const seen = await Promise.all(
    rows.map((row, index) =>
      store
        .write(async (it) => {
          await it.orders.insert([row])
          await it.setValue(row.id, { index })
          if (fails(index)) throw new TypeError('changed its mind')
        })
        // Whoever is told that it is kept finds it, and so does everyone else.
        .then(() => other.read((it) => it.orders.find({ ids: [row.id] })))
        .then((found) => found.length, String),
    ),
  )
  expect(seen).toEqual(
    rows.map((_, index) => (fails(index) ? 'TypeError: changed its mind' : 1)),
  )
  const kept = await other.read(async (it) => ({
    orders: await it.orders.count([destination]),
    values: await Promise.all(rows.map(({ id }) => it.getValue(id))),
  }))
  expect(kept.orders).toEqual({ drafted: 48 })
  expect(kept.values).toEqual(
    rows.map((_, index) => (fails(index) ? undefined : { index })),
  )
  await Promise.all([store.close(), other.close()])
})
