import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import { sampleOrder } from '../../storeCases/samples.js'
import { limitRoom } from '../support/limitRoom.js'
import { mountSmallDisk } from '../support/smallDisk.js'

const destination = {
  chainId: 1,
  token: `0x${'1'.repeat(40)}`,
  recipient: `0x${'2'.repeat(40)}`,
} as const

const folders: string[] = []
let folder = ''
let file = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  folders.push(folder)
  file = join(folder, 'orders.db')
})

afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true })
})

const readValue = (store: PaymentStore, key: string) =>
  store.read((it) => it.getValue(key))

const full = {
  name: 'StoreError',
  message: 'The store has no room left on its disk (SQLITE_FULL).',
  retryable: true,
}

test('of work that found no room nothing is kept, whatever it did after that', async () => {
  const engine = sqliteEngine({ file })
  const store = createSqlStore(engine)
  await store.open()
  await limitRoom(engine, 3)
  const unit = store.write(async (it) => {
    await it.setValue('before', {})
    const text = 'x'.repeat(100_000)
    await it.setValue('large', { text }).catch(() => undefined)
    await it.setValue('after', {})
  })
  await expect(unit).rejects.toMatchObject(full)
  const kept = ['before', 'large', 'after'].map((key) => readValue(store, key))
  expect(await Promise.all(kept)).toEqual([undefined, undefined, undefined])
  await store.write((it) => it.setValue('small', {}))
  expect(await readValue(store, 'small')).toEqual({})
  await store.close()
})

test('work that shares a commit with one that found no room is kept, once', async () => {
  const engine = sqliteEngine({ file })
  const store = createSqlStore(engine)
  await store.open()
  await limitRoom(engine, 3)
  const count = () =>
    store.write(async (it) => {
      const { n = 0 } = (await it.getValue('count')) ?? {}
      await it.setValue('count', { n: Number(n) + 1 })
      return 'kept'
    })
  const rows = Array.from({ length: 400 }, () => sampleOrder(destination))
  const large = () =>
    store
      .write((it) =>
        it.setValue('large', { text: JSON.stringify(rows, showBigint) }),
      )
      .catch((error: unknown) => error)
  const ends = await Promise.all([count(), large(), count(), large(), count()])
  expect(ends).toMatchObject(['kept', full, 'kept', full, 'kept'])
  expect(await readValue(store, 'count')).toEqual({ n: 3 })
  expect(await readValue(store, 'large')).toBeUndefined()
  await store.close()
})

test('a commit that finds the disk full says so, has saved nothing, and succeeds once there is room', async () => {
  const disk = mountSmallDisk(2)
  if (!disk) return
  const store = sqliteStore({ file: join(disk.folder, 'orders.db') })
  await store.write((it) => it.setValue('before', {}))
  disk.fill()
  const write = () => store.write((it) => it.setValue('late', {}))
  for (const _ of [1, 2, 3]) await expect(write()).rejects.toMatchObject(full)
  expect(await readValue(store, 'before')).toEqual({})
  expect(await readValue(store, 'late')).toBeUndefined()
  disk.free()
  await write()
  expect(await readValue(store, 'late')).toEqual({})
  await store.close()
})

const showBigint = (_: string, value: unknown) =>
  typeof value === 'bigint' ? `${value}` : value

test('a disk that takes no more ends no process, and keeps all that was confirmed', async () => {
  // What is written beyond the limit fails, as on a disk that is full.
  const script = `trap '' XFSZ; ulimit -f 1300; exec "$0" --import tsx test/chain/support/sqliteFiller.ts "$1"`
  const child = spawn('sh', ['-c', script, process.execPath, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  child.stdout.on('data', (data) => {
    told += data
  })
  expect((await once(child, 'close'))[0]).toBe(0)
  const ends: [string, string][] = JSON.parse(told)
  const store = sqliteStore({ file })
  for (const [key, end] of ends) {
    const kept = await readValue(store, key)
    if (end === 'kept') expect(kept).toMatchObject({ key })
    else expect(end).toMatch(/^StoreError true .*\((SQLITE_\w+)\)\.$/)
  }
  expect(ends.filter(([, end]) => end === 'kept').length).toBeGreaterThan(3)
  expect(ends.filter(([, end]) => end !== 'kept').length).toBeGreaterThan(3)
  await store.write((it) => it.setValue('room', {}))
  await store.close()
})

const gone = {
  name: 'StoreError',
  message:
    'The store lost its file, which was moved, removed or replaced: restart the process.',
  retryable: false,
}

const thefts: [string, () => void][] = [
  ['removed', () => rmSync(file)],
  ['removed with its log', removeAll],
  ['moved', () => renameSync(file, `${file}.old`)],
  [
    'replaced by a copy',
    () => {
      writeFileSync(`${file}.copy`, readFileSync(file))
      renameSync(`${file}.copy`, file)
    },
  ],
  ['left without its log', () => rmSync(`${file}-wal`)],
]

function removeAll(): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
}

test.each(thefts)(
  'nothing is confirmed any more once the file was %s',
  async (_, steal) => {
    const store = sqliteStore({ file })
    await store.write((it) => it.setValue('a', {}))
    steal()
    const there = readdirSync(folder)
    const write = store.write((it) => it.setValue('a', { lost: true }))
    await expect(write).rejects.toMatchObject(gone)
    const reads = Array.from({ length: 6 }, () => readValue(store, 'a'))
    for (const read of reads) await expect(read).rejects.toMatchObject(gone)
    // Nor is an empty database begun in its place.
    expect(readdirSync(folder)).toEqual(there)
    await store.close()
  },
)

test('nothing is confirmed any more once a file behind a link was left without its log', async () => {
  const link = join(folder, 'link.db')
  symlinkSync(file, link)
  const store = sqliteStore({ file: link })
  await store.write((it) => it.setValue('a', {}))
  rmSync(`${file}-wal`)
  const write = store.write((it) => it.setValue('a', { lost: true }))
  await expect(write).rejects.toMatchObject(gone)
  await store.close()
})

test('what is being written while the file is removed is not confirmed', async () => {
  const store = sqliteStore({ file })
  await store.open()
  const unit = store.write(async (it) => {
    await it.setValue('a', {})
    removeAll()
  })
  await expect(unit).rejects.toMatchObject(gone)
  await store.close()
})

test('a file that is no database is refused, and left as it is', async () => {
  const text = 'a shopping list, and no database '.repeat(50)
  writeFileSync(file, text)
  const store = sqliteStore({ file })
  await expect(store.open()).rejects.toMatchObject({
    message: 'The store got an error from its database (SQLITE_NOTADB).',
    retryable: false,
  })
  await store.close()
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('a file that cannot be opened is named, with what to check', async () => {
  const missing = join(folder, 'missing', 'orders.db')
  await expect(sqliteStore({ file: missing }).open()).rejects.toThrow(
    `The store cannot open the file "${missing}": check that its folder exists and that this process may write there.`,
  )
})
