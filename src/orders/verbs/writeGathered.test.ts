import { expect, test } from 'vitest'
import { memoryStore } from '../../store/memoryStore.js'
import type { PaymentStore } from '../../store/types.js'
import { writeGathered } from './writeGathered.js'

/**
 * Opens a store that records how many notes each statement inserts, for each
 * database transaction.
 */
async function openNoting() {
  const kept = memoryStore()
  await kept.open()
  const units: number[][] = []
  const store: PaymentStore = {
    ...kept,
    write: (work, options) =>
      kept.write((tables) => {
        const inserts: number[] = []
        units.push(inserts)
        const insert: typeof tables.notes.insert = (rows) => {
          inserts.push(rows.length)
          return tables.notes.insert(rows)
        }
        return work({ ...tables, notes: { ...tables.notes, insert } })
      }, options),
  }
  return { store, units }
}

/** Adds a note, and returns whether the notes before it were visible. */
function addNote(store: PaymentStore, key: string, locks: readonly string[]) {
  return writeGathered(
    { store },
    {
      locks,
      write: async ({ notes }, rows) => {
        const found = await notes.find({ keys: ['a', 'b', 'c', 'd'] })
        rows.notes.push({ key, until: 0n, data: {} })
        return found.map((note) => note.key).join('')
      },
    },
  )
}

test('rows of different locks are inserted together, and rows of a shared lock one after another', async () => {
  const { store, units } = await openNoting()
  const seen = await Promise.all([
    // The first write runs alone, while the others wait and are gathered.
    addNote(store, 'a', ['one']),
    addNote(store, 'b', ['one']),
    addNote(store, 'c', ['two']),
    addNote(store, 'd', ['one']),
  ])
  expect(units).toEqual([[1], [1, 2]])
  expect(seen).toEqual(['', 'a', 'ab', 'ab'])
})

test('of a unit that fails, each work is done in a unit of its own', async () => {
  const { store, units } = await openNoting()
  const results = await Promise.allSettled([
    addNote(store, 'a', ['one']),
    addNote(store, 'b', ['two']),
    addNote(store, 'a', ['three']),
  ])
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
  ])
  expect(units).toEqual([[1], [2], [1], [1]])
})
