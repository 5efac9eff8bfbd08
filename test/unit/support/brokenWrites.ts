import { DuplicateRecordError } from 'countersign/store'
import {
  type BrokenStore,
  changedUpdates,
  inStore,
  inWrites,
  overwrite,
  skipKnown,
  withoutUnits,
} from './spoilStore.js'

/** Stores that keep a unit of work in part, twice or for others too early. */
export const brokenWrites: readonly BrokenStore[] = [
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
      'a second order with the same id is refused, and everything written with it is undone',
      'a second attempt with the same number of an order is refused, and everything written with it is undone',
      'a second attempt with the same nonce is refused, and everything written with it is undone',
      'a second transaction with the same nonce and bump of an account is refused, and everything written with it is undone',
      'a log that proves one payment is refused as proof of another, and everything written with it is undone',
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
    fails: [
      'a second order with the same id is refused, and everything written with it is undone',
    ],
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
      'an update of an order is refused if its version is outdated or the row does not exist',
      'an update of an attempt is refused if its version is outdated or the row does not exist',
      'an update of a transaction is refused if its version is outdated or the row does not exist',
      'an update of a proof is refused if its version is outdated or the row does not exist',
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
      'a second order with the same id is refused, and everything written with it is undone',
      'an update of an order is refused if its version is outdated or the row does not exist',
      'when a unit of work throws, nothing of it is stored, and the caller gets that error',
      'a failed update leaves the row and its version as they were',
      'others see a unit of work when it has ended, and all of it at once',
      'a locked name lets one unit of work at a time through',
      'a unit of work that throws changes no channel, and stores none',
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
      'when a unit of work throws, nothing of it is stored, and the caller gets that error',
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
        const {
          orders,
          attempts,
          transactions,
          proofs,
          events,
          notes,
          subscriptions,
          channels,
          recipients,
          getValue,
        } = withoutUnits(store)
        return work({
          attempts,
          transactions,
          proofs,
          events,
          notes,
          subscriptions,
          channels,
          recipients,
          getValue,
          orders: {
            ...orders,
            count: (destinations) =>
              store.read((it) => it.orders.count(destinations)),
            countEach: (destinations) =>
              store.read((it) => it.orders.countEach(destinations)),
          },
          findValues: (prefix) => store.read((it) => it.findValues(prefix)),
          getLease: (key) => store.read((it) => it.getLease(key)),
          secrets: {
            countKeys: (destinations) =>
              store.read((it) => it.secrets.countKeys(destinations)),
            findOrderIds: (query) =>
              store.read((it) => it.secrets.findOrderIds(query)),
          },
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
      'a lock ends with its unit of work, which may take it more than once',
    ],
  },
]
