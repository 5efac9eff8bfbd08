import {
  DuplicateRecordError,
  type HeldLease,
  type Lease,
  memoryStore,
} from 'countersign/store'
import {
  asciiJson,
  type Broken,
  changedUpdates,
  crossed,
  inFinds,
  inStore,
  inWrites,
  mapRows,
  merge,
  narrow,
  overwrite,
  skipKnown,
  sortBy,
  withoutUnits,
} from './spoilStore.js'

/** What is wrong with a store, and the cases that have to say so. */
export const brokenStores: readonly {
  defect: string
  make: Broken
  fails: readonly string[]
}[] = [
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
    fails: ['a row that was handed in or out cannot change what is kept'],
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
  {
    defect: 'orders come the wrong way round',
    make: inFinds(({ orders }) => ({
      orders: mapRows(orders, (rows, query) =>
        'listed' in query || 'unsettled' in query ? rows.reverse() : rows,
      ),
    })),
    fails: [
      'orders are listed newest first, a page before a position',
      'unsettled orders come oldest first, a page after a position',
    ],
  },
  {
    defect: 'the oldest orders are the newest',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'oldest' in query
              ? { listed: [query.oldest], limit: query.limit }
              : query,
          ),
      },
    })),
    fails: ['the oldest orders come first, in any state'],
  },
  {
    defect: 'the payer is not looked at',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'listed' in query ? { ...query, payer: undefined } : query,
          ),
      },
    })),
    fails: ['orders are listed by states and by payer'],
  },
  {
    defect: 'what is due at the very time is left out',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'until' in query ? { ...query, until: query.until - 1n } : query,
          ),
      },
    })),
    fails: [
      'orders with something to send come by deadline, until a time and of some recipients',
      'orders to look at come by when they are due, until a time',
    ],
  },
  {
    defect: 'the first block asked for is left out',
    make: inFinds(({ orders, proofs }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'settled' in query && query.fromBlock !== undefined
              ? { ...query, fromBlock: query.fromBlock + 1n }
              : query,
          ),
      },
      proofs: {
        ...proofs,
        find: (query) =>
          proofs.find(
            'fromBlock' in query && query.fromBlock !== undefined
              ? { ...query, fromBlock: query.fromBlock + 1n }
              : query,
          ),
      },
    })),
    fails: [
      'settled orders come by block, of one finality and between blocks',
      'proofs come in the order of the chain, from a block on',
    ],
  },
  {
    defect: 'a destination that is named twice counts twice',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        count: async (destinations) => {
          const counts: Awaited<ReturnType<typeof orders.count>> = {}
          for (const destination of destinations)
            for (const [state, count] of Object.entries(
              await orders.count([destination]),
            ))
              Object.assign(counts, {
                [state]: Number(Reflect.get(counts, state) ?? 0) + count,
              })
          return counts
        },
      },
    })),
    fails: ['orders are counted by state'],
  },
  ...[
    inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'listed' in query
              ? { ...query, listed: crossed(query.listed) }
              : query,
          ),
      },
    })),
    inFinds(({ orders }) => ({
      orders: {
        ...orders,
        count: (destinations) => orders.count(crossed(destinations)),
      },
    })),
    inFinds(({ proofs }) => ({
      proofs: {
        ...proofs,
        find: (query) =>
          proofs.find(
            'destinations' in query
              ? { ...query, destinations: crossed(query.destinations) }
              : query,
          ),
      },
    })),
    inFinds(({ events }) => ({
      events: {
        ...events,
        find: (query) =>
          events.find(
            'destinations' in query
              ? { ...query, destinations: crossed(query.destinations) }
              : query,
          ),
      },
    })),
  ].map((make, at) => ({
    defect: `parts of destinations are looked for one by one, way ${at + 1}`,
    make,
    fails: ['a query returns only rows of the destinations it was given'],
  })),
  {
    defect: 'attempts are looked for on every chain',
    make: inFinds(({ attempts }) => ({
      attempts: {
        ...attempts,
        find: async (query) => {
          if (!('exposure' in query)) return attempts.find(query)
          const chainId = query.exposure.chainId + 1
          const exposure = { ...query.exposure, chainId }
          return [
            ...(await attempts.find(query)),
            ...(await attempts.find({ exposure })),
          ]
        },
      },
    })),
    fails: ['the spendable attempts of a payer are found by chain and token'],
  },
  {
    defect: 'one attempt is found, whatever is asked for',
    make: inFinds(({ attempts }) => ({
      attempts: mapRows(attempts, (rows) => rows.slice(0, 1)),
    })),
    fails: ['attempts are found by their orders and by their nonces'],
  },
  {
    defect: 'hashes are looked for on every chain',
    make: inFinds(({ transactions, proofs }) => ({
      transactions: {
        ...transactions,
        find: async (query) => [
          ...(await transactions.find(query)),
          ...('hashes' in query
            ? await transactions.find({ ...query, chainId: query.chainId + 1 })
            : []),
        ],
      },
      proofs: {
        ...proofs,
        find: async (query) => [
          ...(await proofs.find(query)),
          ...('hashes' in query
            ? await proofs.find({ ...query, chainId: query.chainId + 1 })
            : []),
        ],
      },
    })),
    fails: [
      'transactions are found by their orders and by their hashes on a chain',
      'proofs are found by their orders and by their hashes on a chain',
    ],
  },
  {
    defect: 'numbers are put in order as text',
    make: inFinds(({ transactions, proofs }) => ({
      transactions: mapRows(transactions, (rows) =>
        sortBy(rows, ({ nonce }) => String(nonce)),
      ),
      proofs: mapRows(proofs, (rows) =>
        sortBy(rows, ({ blockNumber }) => String(blockNumber)),
      ),
    })),
    fails: [
      'transactions of a submitter in flight come in the order of their nonces',
      'proofs come in the order of the chain, from a block on',
    ],
  },
  {
    defect: 'what is not open is not found',
    make: inFinds(({ transactions }) => ({
      transactions: mapRows(transactions, (rows) =>
        rows.filter(({ inFlight }) => inFlight),
      ),
    })),
    fails: [
      'all transactions at one nonce of a submitter are found, in flight or not',
    ],
  },
  {
    defect: 'a row that is there already is left out without a word',
    make: inWrites(({ orders, attempts, transactions, proofs }) => ({
      orders: {
        ...orders,
        insert: (rows) =>
          skipKnown(
            rows,
            ({ id }) => orders.find({ ids: [id] }),
            orders.insert,
          ),
      },
      attempts: {
        ...attempts,
        insert: (rows) =>
          skipKnown(
            rows,
            async ({ orderId, number, nonce }) => [
              ...(await attempts.find({ nonces: [nonce] })),
              ...(await attempts.find({ orderIds: [orderId] })).filter(
                (row) => row.number === number,
              ),
            ],
            attempts.insert,
          ),
      },
      transactions: {
        ...transactions,
        insert: (rows) =>
          skipKnown(
            rows,
            async ({ chainId, account, nonce, bump }) => {
              const at = { chainId, account }
              const found = await transactions.find({ at, nonce })
              return found.filter((row) => row.bump === bump)
            },
            transactions.insert,
          ),
      },
      proofs: {
        ...proofs,
        insert: (rows) =>
          skipKnown(
            rows,
            async ({ chainId, transactionHash, logIndex }) => {
              const hashes = [transactionHash]
              const found = await proofs.find({ chainId, hashes })
              return found.filter((row) => row.logIndex === logIndex)
            },
            proofs.insert,
          ),
      },
    })),
    fails: [
      'a second order with the same id is refused, and all of its unit',
      'a second attempt with the same number of an order is refused, and all of its unit',
      'a second attempt with the same nonce is refused, and all of its unit',
      'a second transaction with the same nonce and bump of an account is refused, and all of its unit',
      'a second proof from the same log is refused, and all of its unit',
      'of writers that insert the same row at once, one gets through',
    ],
  },
  {
    defect: 'a refusal that the work caught is forgotten',
    make: inWrites(({ orders }) => ({
      orders: {
        ...orders,
        insert: async (rows) => {
          const ids = rows.map(({ id }) => id)
          if ((await orders.find({ ids })).length)
            throw new DuplicateRecordError({ table: 'orders' })
          await orders.insert(rows)
        },
      },
    })),
    fails: ['a second order with the same id is refused, and all of its unit'],
  },
  {
    defect: 'a nonce has room for one transaction only',
    make: inWrites(({ transactions }) => ({
      transactions: {
        ...transactions,
        insert: async (rows) => {
          for (const { chainId, account, nonce } of rows) {
            const at = { chainId, account }
            const found = await transactions.find({ at, nonce })
            if (found.length)
              throw new DuplicateRecordError({ table: 'transactions' })
          }
          await transactions.insert(rows)
        },
      },
    })),
    fails: ['rows that differ in one part of their identity are all kept'],
  },
  {
    defect: 'versions are not looked at',
    make: inWrites(changedUpdates(overwrite)),
    fails: [
      'an order is not updated over another version, nor where none is',
      'an attempt is not updated over another version, nor where none is',
      'a transaction is not updated over another version, nor where none is',
      'a proof is not updated over another version, nor where none is',
      'one stale row among 100 refuses them all',
      'a version read in one unit of work is refused in a later one',
    ],
  },
  {
    defect: 'each write is kept at once',
    make: inStore((store) => ({
      write: (work, options) => work(withoutUnits(store, options)),
    })),
    fails: [
      'a second order with the same id is refused, and all of its unit',
      'an order is not updated over another version, nor where none is',
      'when the work fails nothing of it is kept, and its own error comes out',
      'a failed update leaves the row and its version as they were',
      'others see a unit of work when it has ended, and all of it at once',
      'a locked name lets one unit of work at a time through',
      'a unit of work that fails leaves no gap in the stream',
      'a reader of the stream misses nothing, however many write at once',
    ],
  },
  {
    defect: 'each write is kept at once, and versions are not looked at',
    make: inStore((store) => ({
      write: (work) => {
        const writer = withoutUnits(store)
        return work({ ...writer, ...changedUpdates(overwrite)(writer) })
      },
    })),
    fails: ['no update is lost when many write the same row at once'],
  },
  {
    defect: 'nothing comes back from the work',
    make: inStore((store) => ({
      write: async (work, options) => {
        const gone = Object(await store.write(work, options))
        return gone.gone
      },
    })),
    fails: ['a unit of work returns the result of its work, and a read too'],
  },
  {
    defect: 'an error of the work is wrapped into another one',
    make: inStore((store) => ({
      write: (work, options) =>
        store.write(work, options).catch((cause) => {
          throw new Error('the write failed', { cause })
        }),
    })),
    fails: [
      'when the work fails nothing of it is kept, and its own error comes out',
    ],
  },
  {
    defect: 'the work finds what was kept before it only',
    make: inWrites(({ attempts }, store) => ({
      attempts: {
        ...attempts,
        find: (query) => store.read((it) => it.attempts.find(query)),
      },
    })),
    fails: ['a unit of work sees what it wrote itself'],
  },
  {
    defect: 'each query of a read sees another state',
    make: inStore((store) => ({
      read: (work) => {
        const { orders, attempts, transactions, proofs, events, getValue } =
          withoutUnits(store)
        return work({
          ...{ attempts, transactions, proofs, events, getValue },
          orders: {
            ...orders,
            count: (destinations) =>
              store.read((it) => it.orders.count(destinations)),
          },
          getLease: (key) => store.read((it) => it.getLease(key)),
        })
      },
    })),
    fails: ['one read sees one state, whatever is written meanwhile'],
  },
  {
    defect: 'a lock is never given back',
    make: () => {
      const held = new Set<string>()
      return inWrites(() => ({
        lock: async (name) => {
          if (held.has(name)) throw new Error('It waits for ever.')
          held.add(name)
        },
      }))()
    },
    fails: [
      'a lock ends with its unit of work, and is one for who has it already',
    ],
  },
  {
    defect: 'every handle has rows of its own',
    make: () => () => memoryStore({ volatile: true }),
    fails: [
      'rows are there after the store is closed and opened again',
      'every handle names the same database, whenever it is opened',
      'fences rise over the end of a process too',
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
    fails: [
      'the stream is read from after a cursor, so many at a time, in order',
    ],
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
  {
    defect: 'each owner has a lease of its own',
    make: inStore((store) => ({
      takeLease: async (wanted) => {
        const key = `${wanted.key} ${wanted.owner}`
        const lease = await store.takeLease({ ...wanted, key })
        return lease && { ...lease, key: wanted.key }
      },
    })),
    fails: [
      'a lease is for one owner, who prolongs it under the same fence',
      'of many owners who ask at once, one gets the lease',
      'a lease that has run out goes to the next owner, not earlier, under a higher fence',
    ],
  },
  {
    defect: 'all fences are one',
    make: inStore((store) => ({
      takeLease: async (wanted) => {
        const lease = await store.takeLease(wanted)
        return lease && { ...lease, fence: 1n }
      },
      write: (work) => store.write(work),
    })),
    fails: [
      'a lease that has run out goes to the next owner, not earlier, under a higher fence',
      'an owner whose lease had run out gets a higher fence too',
      'fences rise over the end of a process too',
    ],
  },
  {
    defect: 'leases run out early',
    make: inStore((store) => ({
      takeLease: ({ milliseconds, ...wanted }) =>
        store.takeLease({ ...wanted, milliseconds: milliseconds / 4 }),
    })),
    fails: [
      'a lease that has run out goes to the next owner, not earlier, under a higher fence',
    ],
  },
  {
    defect: 'a lease that is held is not prolonged',
    make: () => {
      const taken = new Map<string, Lease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const name = `${wanted.key} ${wanted.owner}`
          const lease = taken.get(name) ?? (await store.takeLease(wanted))
          if (lease) taken.set(name, lease)
          return lease
        },
      }))()
    },
    fails: ['a lease that was prolonged runs from then on'],
  },
  {
    defect: 'the fence rises when a lease is prolonged',
    make: () => {
      const taken = new Map<string, Lease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const held = taken.get(`${wanted.key} ${wanted.owner}`)
          if (held) await store.releaseLease(held)
          const lease = await store.takeLease(wanted)
          if (lease) taken.set(`${wanted.key} ${wanted.owner}`, lease)
          return lease
        },
      }))()
    },
    fails: [
      'a lease is for one owner, who prolongs it under the same fence',
      'a write under a lease that is held is kept',
    ],
  },
  {
    defect: 'the lease of a write is not looked at',
    make: inStore((store) => ({ write: (work) => store.write(work) })),
    fails: [
      'a write under a lease that someone else has is refused',
      'a released lease is free at once, under a higher fence',
    ],
  },
  {
    defect: 'anyone gives back a lease',
    make: () => {
      const taken = new Map<string, Lease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const lease = await store.takeLease(wanted)
          if (lease) taken.set(wanted.key, lease)
          return lease
        },
        releaseLease: (lease) =>
          store.releaseLease(taken.get(lease.key) ?? lease),
      }))()
    },
    fails: ['only its holder can release a lease'],
  },
  {
    defect: 'a lease is never given back',
    make: inStore(() => ({ releaseLease: async () => undefined })),
    fails: ['a released lease is free at once, under a higher fence'],
  },
  {
    defect: 'fences begin again once a lease is given back',
    make: () => {
      const taken = new Map<string, Lease>()
      const given = new Map<string, bigint>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const lease = await store.takeLease(wanted)
          if (!lease) return undefined
          const before = taken.get(lease.key)
          const isNew = before?.fence !== lease.fence
          const fence = (given.get(lease.key) ?? 0n) + (isNew ? 1n : 0n)
          taken.set(lease.key, lease)
          given.set(lease.key, fence)
          return { ...lease, fence }
        },
        releaseLease: async (lease) => {
          if (given.get(lease.key) !== lease.fence) return
          given.delete(lease.key)
          await store.releaseLease(taken.get(lease.key) ?? lease)
        },
        write: (work, { lease } = {}) => {
          const held = lease && taken.get(lease.key)
          const isHeld =
            held?.owner === lease?.owner &&
            lease?.fence === given.get(lease?.key ?? '')
          return store.write(work, { lease: isHeld ? held : lease })
        },
      }))()
    },
    fails: ['no fence is given twice, not even to the owner who released it'],
  },
  {
    defect: 'who held a lease last is said to hold it',
    make: () => {
      const taken = new Map<string, HeldLease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const lease = await store.takeLease(wanted)
          const until = BigInt(Date.now() + wanted.milliseconds)
          if (lease) taken.set(lease.key, { owner: lease.owner, until })
          return lease
        },
        read: (work) =>
          store.read((it) =>
            work({ ...it, getLease: async (key) => taken.get(key) }),
          ),
      }))()
    },
    fails: [
      'the holder of a lease can be read, and until when, as long as it is held',
      'a lease that has run out has no holder',
    ],
  },
]
