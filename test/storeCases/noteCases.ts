import type { NoteRecord, PaymentStore } from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import { drawId, maxTime, oddText } from './samples.js'
import { expectRefusal, expectRows, expectSame, useStore } from './tools.js'

type NewNote = Omit<NoteRecord, 'version'>

const sampleNote = (facts: Partial<NewNote> = {}): NewNote => ({
  key: drawId(),
  until: 1n,
  data: {},
  ...facts,
})

const findNotes = (store: PaymentStore, keys: readonly string[]) =>
  store.read(({ notes }) => notes.find({ keys }))

/**
 * Rules about notes (small records under a key): an update is refused if its
 * version is outdated, and notes can be removed.
 */
export const noteCases: readonly StoreCase[] = [
  {
    name: 'a note comes back as it was given, and counts its updates',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const data = { text: oddText, list: [1, null, { deep: true }] }
        const full = sampleNote({ until: maxTime, data })
        const small = sampleNote()
        await store.write(({ notes }) => notes.insert([full, small]))
        const [found] = await findNotes(await openAnother(), [full.key])
        expectSame('The note', found, { ...full, version: 1 })
        if (!found) return
        const changed = { ...found, data: { text: 'other' } }
        await store.write(({ notes }) => notes.update([changed]))
        const both = await findNotes(store, [small.key, full.key, drawId()])
        expectRows('Both notes', both, [
          { ...small, version: 1 },
          { ...changed, version: 2 },
        ])
      }),
  },
  {
    name: 'a second note under one key, and an update of an older version, are refused',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const note = sampleNote()
        const other = sampleNote()
        await store.write(({ notes }) => notes.insert([note]))
        const twice = store.write(async ({ notes }) => {
          await notes.insert([other])
          await notes.insert([note])
        })
        await expectRefusal('The second', twice, 'DuplicateRecordError')
        expectSame('The rest', await findNotes(store, [other.key]), [])
        const kept = { ...note, version: 1 }
        await store.write(({ notes }) => notes.update([kept]))
        const stale = store.write(({ notes }) => notes.update([kept]))
        await expectRefusal('The stale one', stale, 'StaleRecordError')
      }),
  },
  {
    name: 'of units of work that insert one key at once, one is kept',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const another = await openAnother()
        const key = drawId()
        const results = await Promise.allSettled(
          [store, another, store, another].map((one, by) =>
            one.write(({ notes }) =>
              notes.insert([sampleNote({ key, data: { by } })]),
            ),
          ),
        )
        const kept = results.filter(({ status }) => status === 'fulfilled')
        expectSame('Units that were kept', kept.length, 1)
      }),
  },
  {
    name: 'a removed note is gone, and its key is free',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [note, other] = [sampleNote(), sampleNote()]
        await store.write(({ notes }) => notes.insert([note, other]))
        const within = await store.write(async ({ notes }) => {
          await notes.remove([note.key, drawId()])
          return notes.find({ keys: [note.key] })
        })
        expectSame('In the unit that removes it', within, [])
        const found = await findNotes(store, [note.key, other.key])
        expectSame('What is left', found, [{ ...other, version: 1 }])
        await store.write(({ notes }) => notes.insert([note]))
        const [again] = await findNotes(store, [note.key])
        expectSame('The new one', again, { ...note, version: 1 })
      }),
  },
  {
    name: 'a unit of work that fails removes nothing',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const note = sampleNote()
        await store.write(({ notes }) => notes.insert([note]))
        const unit = store.write(async ({ notes }) => {
          await notes.remove([note.key])
          throw new TypeError('the work fails')
        })
        await expectRefusal('The write', unit, 'TypeError')
        const found = await findNotes(store, [note.key])
        expectSame('The note', found, [{ ...note, version: 1 }])
      }),
  },
  {
    name: 'expired notes are found, the earliest first, up to the limit',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        // Uses negative times, which no other case uses, so that the query
        // finds only these notes.
        const times = [-5n, -9n, -7n, -1n]
        const rows = times.map((until) => sampleNote({ until }))
        await store.write(({ notes }) => notes.insert(rows))
        const over = await store.read(({ notes }) =>
          notes.find({ over: -5n, limit: 2 }),
        )
        expectSame(
          'The earliest two',
          over.map(({ until }) => until),
          [-9n, -7n],
        )
        const keys = rows.map(({ key }) => key)
        await store.write(({ notes }) => notes.remove(keys))
      }),
  },
]
