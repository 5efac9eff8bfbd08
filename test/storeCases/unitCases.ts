import { wait } from '../../src/core/wait.js'
import type { PaymentStore, StoreReader } from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawDestination,
  drawId,
  drawSubmitter,
  sampleAttempt,
  sampleEvent,
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from './samples.js'
import { expectSame, tryAgain, useStore } from './tools.js'

/**
 * Rules about units of work (database transactions): each is atomic and
 * isolated.
 */
export const unitCases: readonly StoreCase[] = [
  {
    name: 'a unit of work returns the result of its work, and a read too',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const answers = [
          await store.write(async () => ({ written: 1n })),
          await store.read(async () => ['read']),
        ]
        expectSame('Answers', answers, [{ written: 1n }, ['read']])
      }),
  },
  {
    name: 'when a unit of work throws, nothing of it is stored, and the caller gets that error',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const [order, kept] = [sampleOrder(drawDestination()), drawId()]
        const submitter = drawSubmitter()
        await store.write((it) => it.setValue(kept, { before: true }))
        const failure = new Error('the work fails')
        const unit = store.write(async (it) => {
          await it.orders.insert([order])
          await it.attempts.insert([sampleAttempt(order)])
          await it.transactions.insert([sampleTransaction(submitter)])
          await it.proofs.insert([sampleProof(order)])
          await it.events.append([sampleEvent(order)])
          await it.setValue(order.id, {})
          await it.setValue(kept, { before: false })
          throw failure
        })
        const error = await unit.catch((it: unknown) => it)
        expectSame('Its own error comes out', error === failure, true)
        const other = await openAnother()
        for (const handle of [store, other]) {
          const found = await handle.read(async (it) => [
            await it.orders.find({ ids: [order.id] }),
            await it.attempts.find({ orderIds: [order.id] }),
            await it.transactions.find({ inFlight: submitter }),
            await it.proofs.find({ destinations: [order], limit: 9 }),
            await it.events.find({
              destinations: [order],
              after: 0n,
              limit: 9,
            }),
            await it.getValue(order.id),
            await it.getValue(kept),
          ])
          const nothing = [[], [], [], [], [], undefined, { before: true }]
          expectSame('What is kept', found, nothing)
        }
      }),
  },
  {
    name: 'a failed update leaves the row and its version as they were',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const order = sampleOrder(drawDestination())
        await store.write((it) => it.orders.insert([order]))
        await store
          .write(async (it) => {
            const rows = await it.orders.find({ ids: [order.id] })
            await it.orders.update(rows.map((row) => ({ ...row, tries: 7 })))
            throw new Error('the work fails')
          })
          .catch(() => undefined)
        const [row] = await findOrder(store, order.id)
        expectSame('Tries, version', [row?.tries, row?.version], [0, 1])
      }),
  },
  {
    name: 'a unit of work sees what it wrote itself',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const order = sampleOrder(drawDestination())
        const { id } = order
        const submitter = drawSubmitter()
        await store.write(async (it) => {
          await it.orders.insert([order])
          await it.attempts.insert([sampleAttempt(order)])
          await it.transactions.insert([sampleTransaction(submitter)])
          await it.proofs.insert([sampleProof(order)])
          await it.events.append([sampleEvent(order, { orderId: id })])
          await it.setValue(id, { seen: true })
          const rows = await it.orders.find({ ids: [id] })
          await it.orders.update(rows.map((row) => ({ ...row, tries: 1 })))
          const [row] = await it.orders.find({ ids: [id] })
          expectSame('Tries, version', [row?.tries, row?.version], [1, 2])
          const counts = [
            (await it.attempts.find({ orderIds: [id] })).length,
            (await it.transactions.find({ inFlight: submitter })).length,
            (await it.proofs.find({ destinations: [order], limit: 9 })).length,
            (await it.events.find({ orderIds: [id] })).length,
            await it.getValue(id),
          ]
          const all = [1, 1, 1, 1, { seen: true }]
          expectSame('What the unit sees', counts, all)
        })
      }),
  },
  {
    name: 'others see a unit of work when it has ended, and all of it at once',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const order = sampleOrder(drawDestination())
        const look = () =>
          other.read(async (it) => [
            (await it.orders.find({ ids: [order.id] })).length,
            (await it.attempts.find({ orderIds: [order.id] })).length,
            await it.getValue(order.id),
          ])
        await store.write(async (it) => {
          await it.orders.insert([order])
          await it.setValue(order.id, { seen: true })
          expectSame('Before its end', await look(), [0, 0, undefined])
          await it.attempts.insert([sampleAttempt(order)])
        })
        expectSame('After its end', await look(), [1, 1, { seen: true }])
      }),
  },
  {
    name: 'one read sees one state, whatever is written meanwhile',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const order = sampleOrder(drawDestination())
        const { id } = order
        await store.write((it) => it.orders.insert([order]))
        const look = async (it: StoreReader) => [
          (await it.orders.find({ ids: [id] })).map(({ version }) => version),
          (await it.attempts.find({ orderIds: [id] })).length,
          (await it.events.find({ orderIds: [id] })).length,
          await it.getValue(id),
        ]
        const [first, second] = await store.read(async (it) => {
          const before = await look(it)
          await other.write(async (writer) => {
            const rows = await writer.orders.find({ ids: [id] })
            await writer.orders.update(rows)
            await writer.attempts.insert([sampleAttempt(order)])
            await writer.events.append([sampleEvent(order, { orderId: id })])
            await writer.setValue(id, {})
          })
          return [before, await look(it)]
        })
        expectSame('The first look', first, [[1], 0, 0, undefined])
        expectSame('The second look', second, first)
        expectSame('Afterwards', await store.read(look), [[2], 1, 1, {}])
      }),
  },
  {
    name: 'no update is lost when many write the same row at once',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const order = sampleOrder(drawDestination())
        await store.write((it) => it.orders.insert([order]))
        const raise = (handle: PaymentStore) =>
          tryAgain(() =>
            handle.write(async (it) => {
              const rows = await it.orders.find({ ids: [order.id] })
              await wait(1)
              const next = rows.map((row) => ({ ...row, tries: row.tries + 1 }))
              await it.orders.update(next)
            }),
          )
        await Promise.all(
          Array.from({ length: 20 }, (_, at) => raise(at % 2 ? store : other)),
        )
        const [row] = await findOrder(store, order.id)
        expectSame('Tries, version', [row?.tries, row?.version], [20, 21])
      }),
  },
  {
    name: 'a version read in one unit of work is refused in a later one',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const order = sampleOrder(drawDestination())
        await store.write((it) => it.orders.insert([order]))
        const seen = await findOrder(store, order.id)
        const answers = await Promise.all(
          [store, other, store, other].map((handle) =>
            handle
              .write((it) => it.orders.update(seen))
              .then(
                () => 'kept',
                (error) => `${error.name}, retryable: ${error.retryable}`,
              ),
          ),
        )
        const refused = 'StaleRecordError, retryable: true'
        const all = [refused, refused, refused, 'kept']
        expectSame('Answers', answers.sort(), all)
      }),
  },
  {
    name: 'a locked name lets one unit of work at a time through',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const key = drawId()
        let inside = 0
        let most = 0
        const raise = (handle: PaymentStore) =>
          handle.write(async (it) => {
            await it.lock(key)
            most = Math.max(most, ++inside)
            const { count } = (await it.getValue(key)) ?? { count: 0 }
            await wait(2)
            await it.setValue(key, { count: Number(count) + 1 })
            inside--
          })
        await Promise.all(
          Array.from({ length: 20 }, (_, at) => raise(at % 2 ? store : other)),
        )
        expectSame('Inside at once', most, 1)
        const value = await store.read((it) => it.getValue(key))
        expectSame('The count', value, { count: 20 })
      }),
  },
  {
    name: 'a lock ends with its unit of work, which may take it more than once',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const key = drawId()
        await store
          .write(async (it) => {
            await it.lock(key)
            throw new Error('the work fails')
          })
          .catch(() => undefined)
        await other.write(async (it) => {
          await it.lock(key)
          await it.lock(`${key} too`)
          await it.lock(key)
        })
        await store.write((it) => it.lock(key))
      }),
  },
  {
    name: 'rows are there after the store is closed and opened again',
    run: async (createStore) => {
      const order = sampleOrder(drawDestination())
      await useStore(createStore, (store) =>
        store.write((it) => it.orders.insert([order])),
      )
      await useStore(createStore, async (store) => {
        const [row] = await findOrder(store, order.id)
        expectSame('The id', row?.id, order.id)
      })
    },
  },
  {
    name: 'every handle names the same database, whenever it is opened',
    run: async (createStore) => {
      const first = await createStore()
      const second = await createStore()
      const names = [await first.open(), await second.open()]
      await first.close()
      await second.close()
      const third = await createStore()
      names.push(await third.open())
      await third.close()
      const [{ identity } = { identity: '' }] = names
      expectSame(
        'Identities',
        names,
        [1, 2, 3].map(() => ({ identity })),
      )
      expectSame('An identity has letters', identity.length > 0, true)
    },
  },
]

function findOrder(store: PaymentStore, id: string) {
  return store.read((it) => it.orders.find({ ids: [id] }))
}
