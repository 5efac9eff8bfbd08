import type { PaymentStore } from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawDestination,
  drawId,
  drawSubmitter,
  fullAttemptFacts,
  fullOrderFacts,
  fullProofFacts,
  fullTransactionFacts,
  maxTime,
  oddText,
  sampleAttempt,
  sampleEvent,
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from './samples.js'
import { expectRows, expectSame, useStore, writeAll } from './tools.js'

const withVersion = <row>(rows: readonly row[], version = 1) =>
  rows.map((row) => ({ ...row, version }))

const findOrders = async (store: PaymentStore, ids: readonly string[]) =>
  (await store.read(({ orders }) => orders.find({ ids }))).map(
    ({ position, ...row }) => row,
  )

/**
 * Rules about rows: each comes back as it was written, and its version counts
 * the writes.
 */
export const recordCases: readonly StoreCase[] = [
  {
    name: 'an order comes back as it was given, the smallest and the largest',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination({
          chainId: Number.MAX_SAFE_INTEGER,
        })
        const small = sampleOrder(drawDestination({ chainId: 1 }), {
          value: 0n,
        })
        const full = sampleOrder(destination, fullOrderFacts())
        await store.write(({ orders }) => orders.insert([small, full]))
        const found = await findOrders(store, [small.id, full.id])
        expectRows('The orders', found, withVersion([small, full]))
      }),
  },
  {
    name: 'an attempt comes back as it was given, the smallest and the largest',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const order = sampleOrder(drawDestination())
        const rows = [
          sampleAttempt(order, { value: 0n }),
          sampleAttempt(order, fullAttemptFacts()),
        ]
        await writeAll(
          store,
          ({ orders }) => orders.insert([order]),
          ({ attempts }) => attempts.insert(rows),
        )
        const query = { orderIds: [order.id] }
        const found = await store.read(({ attempts }) => attempts.find(query))
        expectRows('The attempts', found, withVersion(rows))
      }),
  },
  {
    name: 'a transaction comes back as it was given, the smallest and the largest',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const submitter = drawSubmitter({ chainId: Number.MAX_SAFE_INTEGER })
        const full = sampleTransaction(submitter, fullTransactionFacts())
        const small = sampleTransaction(submitter, {
          movements: [{ orderId: drawId(), attempt: 1 }],
          gas: 0n,
        })
        await store.write(({ transactions }) =>
          transactions.insert([small, full]),
        )
        const orderIds = [small, full].flatMap(({ movements }) =>
          movements.map(({ orderId }) => orderId),
        )
        const found = await store.read(({ transactions }) =>
          transactions.find({ orderIds }),
        )
        expectRows('The transactions', found, withVersion([small, full]))
      }),
  },
  {
    name: 'a proof comes back as it was given, the smallest and the largest',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination({
          chainId: Number.MAX_SAFE_INTEGER,
        })
        const small = sampleProof(destination, { blockNumber: 0n, value: 0n })
        const full = sampleProof(destination, fullProofFacts())
        await store.write(({ proofs }) => proofs.insert([small, full]))
        const query = { destinations: [destination], limit: 9 }
        const found = await store.read(({ proofs }) => proofs.find(query))
        expectRows('The proofs', found, withVersion([small, full]))
      }),
  },
  {
    name: 'an event comes back as it was given, the smallest and the largest',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination({
          chainId: Number.MAX_SAFE_INTEGER,
        })
        const { metadata: data } = {
          ...sampleOrder(destination),
          ...fullOrderFacts(),
        }
        const full = {
          orderId: drawId(),
          sequence: Number.MAX_SAFE_INTEGER,
          type: oddText,
          at: maxTime,
          data,
        }
        const rows = [
          sampleEvent(destination, { sequence: 0 }),
          sampleEvent(destination, full),
        ]
        await store.write(({ events }) => events.append(rows))
        const query = { destinations: [destination], after: 0n, limit: 9 }
        const found = await store.read(({ events }) => events.find(query))
        const bare = found.map(({ cursor, ...row }) => row)
        expectSame('The events', bare, rows)
      }),
  },
  {
    name: 'orders take positions in the order in which they are inserted',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const rows = Array.from({ length: 6 }, () => sampleOrder(destination))
        await store.write(({ orders }) => orders.insert(rows.slice(0, 3)))
        await store.write(async ({ orders }) => {
          await orders.insert(rows.slice(3, 5))
          await orders.insert(rows.slice(5))
        })
        const ids = rows.map(({ id }) => id)
        const found = await store.read(({ orders }) => orders.find({ ids }))
        const places = ids.map(
          (id) => found.find((row) => row.id === id)?.position ?? 0n,
        )
        const sorted = [...places].sort((left, right) => Number(left - right))
        expectSame('Positions', places, sorted)
        expectSame('Different positions', new Set(places).size, 6)
      }),
  },
  {
    name: 'an update sets and clears every field of an order but its position',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const bare = sampleOrder(drawDestination())
        await store.write(({ orders }) => orders.insert([bare]))
        const read = () =>
          store.read(({ orders }) => orders.find({ ids: [bare.id] }))
        const [first] = await read()
        if (!first) throw new Error('The order that was inserted is not there.')
        const full = { ...first, ...fullOrderFacts() }
        await store.write(({ orders }) => orders.update([full]))
        expectSame('All set', await read(), [{ ...full, version: 2 }])
        await store.write(({ orders }) =>
          orders.update([{ ...first, version: 2 }]),
        )
        expectSame('All cleared', await read(), [{ ...first, version: 3 }])
      }),
  },
  {
    name: 'an update sets and clears fields of attempts, transactions and proofs',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const order = sampleOrder(drawDestination())
        const { number: _, ...more } = fullAttemptFacts()
        const attempt = sampleAttempt(order)
        const { nonce, bump, ...sent } = fullTransactionFacts()
        const submitter = drawSubmitter()
        const transaction = sampleTransaction(submitter)
        const { logIndex, ...proven } = fullProofFacts()
        const proof = sampleProof(order)
        const update = (version: number, ...[a, t, p]: readonly object[]) =>
          writeAll(
            store,
            (it) => it.attempts.update([{ ...attempt, ...a, version }]),
            (it) => it.transactions.update([{ ...transaction, ...t, version }]),
            (it) => it.proofs.update([{ ...proof, ...p, version }]),
          )
        const read = () =>
          store.read(async (it) => [
            ...(await it.attempts.find({ orderIds: [order.id] })),
            ...(await it.transactions.find({ at: submitter, nonce: 0 })),
            ...(await it.proofs.find({ destinations: [order], limit: 9 })),
          ])
        await writeAll(
          store,
          (it) => it.orders.insert([order]),
          (it) => it.attempts.insert([attempt]),
          (it) => it.transactions.insert([transaction]),
          (it) => it.proofs.insert([proof]),
        )
        await update(1, more, sent, proven)
        expectSame('All set', await read(), [
          { ...attempt, ...more, version: 2 },
          { ...transaction, ...sent, version: 2 },
          { ...proof, ...proven, version: 2 },
        ])
        await update(2)
        const bare = withVersion([attempt, transaction, proof].flat(), 3)
        expectSame('All cleared', await read(), bare)
      }),
  },
  {
    name: '500 rows go in, come back and change in one call',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const rows = Array.from({ length: 500 }, () => sampleOrder(destination))
        const ids = rows.map(({ id }) => id)
        const tries = rows.map((row) => sampleAttempt(row))
        const nonces = tries.map(({ nonce }) => nonce)
        await writeAll(
          store,
          ({ orders }) => orders.insert(rows),
          ({ attempts }) => attempts.insert(tries),
          ({ events }) =>
            events.append(
              rows.map(({ id }) => sampleEvent(destination, { orderId: id })),
            ),
        )
        const read = () => store.read(({ orders }) => orders.find({ ids }))
        const found = await read()
        expectSame('Orders found', found.length, 500)
        const changed = found.map((row, at) => ({ ...row, tries: at }))
        await store.write(({ orders }) => orders.update(changed))
        expectRows('The orders', await read(), withVersion(changed, 2))
        const kept = await store.read(({ attempts }) =>
          attempts.find({ nonces }),
        )
        expectRows('The attempts', kept, withVersion(tries))
        const written = await store.read(({ events }) =>
          events.find({ orderIds: ids }),
        )
        expectRows(
          'The events found',
          written.map(({ orderId }) => orderId),
          ids,
        )
      }),
  },
  {
    name: 'calls without rows change nothing and refuse nothing',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        await writeAll(
          store,
          (it) => it.orders.insert([]),
          (it) => it.attempts.insert([]),
          (it) => it.transactions.insert([]),
          (it) => it.proofs.insert([]),
          (it) => it.events.append([]),
          (it) => it.orders.update([]),
          (it) => it.attempts.update([]),
          (it) => it.transactions.update([]),
          (it) => it.proofs.update([]),
        )
      }),
  },
  {
    name: 'changing a row after it was written or read does not change the stored row',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const row = sampleOrder(drawDestination(), { metadata: { list: [1] } })
        const given = structuredClone(row)
        await store.write(async ({ orders, setValue }) => {
          await orders.insert([given])
          await setValue(row.id, given.metadata)
        })
        const spoil = (it: object) => {
          Reflect.set(it, 'value', 0n)
          Reflect.set(it, 'spoiled', true)
          Reflect.set(Object(Reflect.get(it, 'metadata')).list ?? {}, '0', 2)
        }
        spoil(given)
        const query = { ids: [row.id] }
        const found = await store.read(({ orders }) => orders.find(query))
        for (const shared of found) spoil(shared)
        const value = await store.read((it) => it.getValue(row.id))
        spoil({ metadata: value })
        expectSame('The order', await findOrders(store, [row.id]), [
          { ...row, version: 1 },
        ])
        const again = await store.read((it) => it.getValue(row.id))
        expectSame('The value', again, { list: [1] })
      }),
  },
  {
    name: 'a value is kept under its key until another one takes its place',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [key, other] = [drawId(), `${drawId()} ${oddText}`]
        const { metadata } = {
          ...sampleOrder(drawDestination()),
          ...fullOrderFacts(),
        }
        const get = (name: string) => store.read((it) => it.getValue(name))
        expectSame('No value', await get(key), undefined)
        await store.write((it) => it.setValue(key, metadata))
        await store.write((it) => it.setValue(other, {}))
        expectSame('The value', await get(key), metadata)
        expectSame('The empty value', await get(other), {})
        await store.write(async (it) => {
          await it.setValue(key, { first: 1 })
          await it.setValue(key, { second: 'x'.repeat(100_000) })
        })
        const long = { second: 'x'.repeat(100_000) }
        expectSame('The new value', await get(key), long)
        await store.write((it) => it.setValue(`${key}:`, { third: 1 }))
        const find = (prefix: string) =>
          store.read(async (it) =>
            (await it.findValues(prefix)).sort((left, right) =>
              left.key < right.key ? -1 : 1,
            ),
          )
        const after = { key: `${key}:`, value: { third: 1 } }
        const both = [{ key, value: long }, after]
        expectSame('The values that begin so', await find(key), both)
        expectSame('The value that begins so', await find(`${key}:`), [after])
        expectSame('No values', await find(`${key};`), [])
      }),
  },
]
