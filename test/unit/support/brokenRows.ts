import {
  asciiJson,
  type BrokenStore,
  changedUpdates,
  inFinds,
  inWrites,
  mapRows,
  merge,
  narrow,
} from './spoilStore.js'

/** Stores that spoil the rows they keep. */
export const brokenRows: readonly BrokenStore[] = [
  {
    defect: 'amounts lose what is above 64 bits',
    make: inFinds(({ orders, attempts, proofs }) => ({
      orders: mapRows(orders, (rows) => rows.map(narrow)),
      attempts: mapRows(attempts, (rows) => rows.map(narrow)),
      proofs: mapRows(proofs, (rows) => rows.map(narrow)),
    })),
    fails: [
      'an order comes back as it was given, the smallest and the largest',
      'an attempt comes back as it was given, the smallest and the largest',
      'a proof comes back as it was given, the smallest and the largest',
      'an update sets and clears every field of an order but its position',
      'an update sets and clears fields of attempts, transactions and proofs',
    ],
  },
  {
    defect: 'times go through a floating-point number',
    make: inFinds(({ transactions }) => ({
      transactions: mapRows(transactions, (rows) =>
        rows.map((row) => ({
          ...row,
          recordedAt: BigInt(Number(row.recordedAt)),
        })),
      ),
    })),
    fails: [
      'a transaction comes back as it was given, the smallest and the largest',
    ],
  },
  {
    defect: 'JSON is kept as ASCII',
    make: inWrites(({ events, setValue }) => ({
      events: {
        ...events,
        append: (rows) =>
          events.append(
            rows.map((row) => ({ ...row, data: asciiJson(row.data) })),
          ),
      },
      setValue: (key, value) => setValue(key, asciiJson(value)),
    })),
    fails: [
      'an event comes back as it was given, the smallest and the largest',
      'a value is kept under its key until another one takes its place',
    ],
  },
  {
    defect: 'a value is merged into the one before',
    make: inWrites(({ getValue, setValue }) => ({
      setValue: async (key, value) =>
        setValue(key, { ...(await getValue(key)), ...value }),
    })),
    fails: ['a value is kept under its key until another one takes its place'],
  },
  {
    defect: 'places fall',
    make: inFinds(({ orders }) => ({
      orders: mapRows(orders, (rows) =>
        rows.map((row) => ({ ...row, position: 1_000n - row.position })),
      ),
    })),
    fails: ['orders take positions in the order in which they are inserted'],
  },
  {
    defect: 'an update cannot clear a field',
    make: inWrites(changedUpdates(merge)),
    fails: [
      'an update sets and clears every field of an order but its position',
      'an update sets and clears fields of attempts, transactions and proofs',
    ],
  },
  {
    defect: 'a call takes 100 rows at most',
    make: inWrites(({ orders }) => ({
      orders: {
        ...orders,
        insert: (rows) => orders.insert(rows.slice(0, 100)),
      },
    })),
    fails: ['500 rows go in, come back and change in one call'],
  },
  {
    defect: 'a call without rows is no good statement',
    make: inWrites(({ proofs }) => ({
      proofs: {
        ...proofs,
        update: async (rows) => {
          if (rows.length === 0) throw new SyntaxError('near "where"')
          await proofs.update(rows)
        },
      },
    })),
    fails: ['calls without rows change nothing and refuse nothing'],
  },
  {
    defect: 'everyone gets the same object',
    make: () => {
      const cache = new Map<string, object>()
      return inFinds(({ orders }) => ({
        orders: mapRows(orders, (rows) =>
          rows.map((row) => {
            const name = `${row.id} ${row.version}`
            const shared = Object.assign(cache.get(name) ?? { ...row })
            cache.set(name, shared)
            return shared
          }),
        ),
      }))()
    },
    fails: [
      'changing a row after it was written or read does not change the stored row',
    ],
  },
  {
    defect: 'an id that is asked for twice is answered twice',
    make: inFinds(({ orders }) => ({
      orders: mapRows(orders, (rows, query) =>
        'ids' in query
          ? query.ids.flatMap((id) => rows.filter((row) => row.id === id))
          : rows,
      ),
    })),
    fails: ['orders are found by their ids, each once'],
  },
]
