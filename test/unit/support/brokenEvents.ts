import { memoryStore } from 'countersign/store'
import { type BrokenStore, inFinds, mapRows } from './spoilStore.js'

/** Stores whose identity, cursors or events are wrong. */
export const brokenEvents: readonly BrokenStore[] = [
  {
    defect: 'every handle has rows of its own',
    make: () => () => memoryStore({ volatile: true }),
    fails: [
      'rows are there after the store is closed and opened again',
      'every handle names the same database, whenever it is opened',
      'fences keep rising after a process ends and another starts',
    ],
  },
  {
    defect: 'cursors have gaps',
    make: inFinds(({ events }) => ({
      events: {
        find: async (query) => {
          const after = 'after' in query ? { after: query.after / 2n } : {}
          const rows = await events.find({ ...query, ...after })
          return rows.map((row) => ({ ...row, cursor: row.cursor * 2n }))
        },
      },
    })),
    fails: [
      'events take the next cursors in the order in which they are appended',
      'a unit of work that fails leaves no gap in the stream',
      'a reader of the stream misses nothing, however many write at once',
    ],
  },
  {
    defect: 'some events show up after later ones',
    make: () => {
      const seen = new Map<bigint, number>()
      return inFinds(({ events }) => ({
        events: mapRows(events, (rows) =>
          rows.filter(({ cursor }) => {
            const first = seen.get(cursor) ?? Date.now()
            seen.set(cursor, first)
            return cursor % 5n !== 4n || Date.now() - first > 30
          }),
        ),
      }))()
    },
    fails: [
      'a reader of the stream misses nothing, however many write at once',
    ],
  },
  {
    defect: 'the cursor itself is read again',
    make: inFinds(({ events }) => ({
      events: {
        find: (query) =>
          events.find(
            'after' in query && query.after > 0n
              ? { ...query, after: query.after - 1n }
              : query,
          ),
      },
    })),
    fails: ['events after a cursor are read in order, up to a limit'],
  },
  {
    defect: 'the newest event is the first',
    make: inFinds(({ events }) => ({
      events: {
        find: (query) =>
          events.find(
            'newest' in query && query.newest !== 'all'
              ? { destinations: query.newest, after: 0n, limit: 1 }
              : query,
          ),
      },
    })),
    fails: ['the newest event is the last of any of the destinations'],
  },
  {
    defect: 'the newest event of all is none',
    make: inFinds(({ events }) => ({
      events: {
        find: (query) =>
          events.find(
            'newest' in query && query.newest === 'all'
              ? { newest: [] }
              : query,
          ),
      },
    })),
    fails: ['the newest event is the last of any of the destinations'],
  },
  {
    defect: 'events are found for the first order only',
    make: inFinds(({ events }) => ({
      events: {
        find: (query) =>
          events.find(
            'orderIds' in query ? { orderIds: query.orderIds.slice(1) } : query,
          ),
      },
    })),
    fails: ['events are found by their orders'],
  },
]
