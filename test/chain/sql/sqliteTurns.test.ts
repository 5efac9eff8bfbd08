import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { afterAll, expect, onTestFinished, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'countersign-turns-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

async function openStore(): Promise<PaymentStore> {
  const store = sqliteStore({ file: join(folder, `${files++}.db`) })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

/** Counts the turns of the event loop until the test ends. */
function countTurns(): () => number {
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  onTestFinished(() => {
    isOver = true
  })
  return () => turn
}

const write = (store: PaymentStore, at: number) =>
  store.write((tables) => tables.setValue(`key ${at}`, { at }))

test('of many units of work that write, each is kept in its turn, and the event loop gets turns in between', async () => {
  const store = await openStore()
  const turns = countTurns()
  const kept: { at: number; turn: number }[] = []
  await Promise.all(
    Array.from({ length: 320 }, async (_, at) => {
      await write(store, at)
      kept.push({ at, turn: turns() })
    }),
  )
  expect(kept.map(({ at }) => at)).toEqual(kept.map((_, at) => at))
  // At most 16 units share a commit.
  const perTurn = new Map<number, number>()
  for (const { turn } of kept) perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(16)
})

test('many readers get their answers in the order in which they asked', async () => {
  const store = await openStore()
  await write(store, 1)
  const answered: number[] = []
  await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      await store.read((tables) => tables.getValue('key 1'))
      answered.push(at)
    }),
  )
  expect(answered).toEqual(answered.map((_, at) => at))
})

test('readers that still wait when the store closes are refused', async () => {
  const store = await openStore()
  await write(store, 1)
  const all = Array.from({ length: 50 }, () =>
    store.read((tables) => tables.getValue('key 1')),
  )
  const closing = store.close()
  const ends = await Promise.allSettled(all)
  await closing
  const refused = ends.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const end of refused)
    expect(end).toMatchObject({ reason: { name: 'StoreError' } })
})
