import { type BrokenStore, inFinds, inWrites, mapRows } from './spoilStore.js'

/** Stores whose notes are wrong. */
export const brokenNotes: readonly BrokenStore[] = [
  {
    defect: 'notes keep only the text of their data',
    make: inFinds(({ notes }) => ({
      notes: mapRows(notes, (rows) =>
        rows.map((row) => ({ ...row, data: { text: row.data.text } })),
      ),
    })),
    fails: ['a note comes back as it was given, and counts its updates'],
  },
  {
    defect: 'a note replaces the one that is there',
    make: inWrites(({ notes }) => ({
      notes: {
        ...notes,
        insert: async (rows) => {
          await notes.remove(rows.map(({ key }) => key))
          await notes.insert(rows)
        },
      },
    })),
    fails: [
      'a second note under one key, and an update of an older version, are refused',
      'of units of work that insert one key at once, one is kept',
    ],
  },
  {
    defect: 'notes are never removed',
    make: inWrites(({ notes }) => ({
      notes: { ...notes, remove: async () => undefined },
    })),
    fails: ['a removed note is gone, and its key is free'],
  },
  {
    defect: 'notes are removed at once, whatever becomes of the unit of work',
    make: () => {
      const removed = new Set<string>()
      return inFinds(({ notes }) => ({
        notes: {
          ...mapRows(notes, (rows) =>
            rows.filter(({ key }) => !removed.has(key)),
          ),
          remove: async (keys: readonly string[]) => {
            for (const key of keys) removed.add(key)
          },
        },
      }))()
    },
    fails: ['a unit of work that fails removes nothing'],
  },
  {
    defect: 'notes whose time is over are found in any order',
    make: inFinds(({ notes }) => ({
      notes: {
        find: async (query) =>
          'over' in query
            ? (await notes.find({ ...query, limit: 100 }))
                .reverse()
                .slice(0, query.limit)
            : notes.find(query),
      },
    })),
    fails: ['expired notes are found, the earliest first, up to the limit'],
  },
]
