import type { PaymentStore, StoreWriter } from '../../src/store/types.js'
import type { CreateStore, StoreCase } from '../../src/testing/storeCase.js'
import {
  drawDestination,
  drawId,
  drawSubmitter,
  type NewAttempt,
  type NewOrder,
  type NewProof,
  type NewTransaction,
  sampleAttempt,
  sampleEvent,
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from './samples.js'
import { expectRefusal, expectSame, tryAgain, useStore } from './tools.js'

type Step = (writer: StoreWriter) => Promise<unknown>

type Sample = {
  order: NewOrder
  attempt: NewAttempt
  transaction: NewTransaction
  proof: NewProof
}

/**
 * Rules about refused writes: no row is inserted twice, or updated from an
 * outdated version.
 */
export const refusalCases: readonly StoreCase[] = [
  {
    name: 'a second order with the same id is refused, and everything written with it is undone',
    run: (createStore) =>
      expectTwiceRefused(
        createStore,
        ({ order: { id } }) =>
          (it) =>
            it.orders.insert([
              sampleOrder(drawDestination()),
              sampleOrder(drawDestination(), { id }),
            ]),
      ),
  },
  {
    name: 'a second attempt with the same number of an order is refused, and everything written with it is undone',
    run: (createStore) =>
      expectTwiceRefused(
        createStore,
        ({ order }) =>
          (it) =>
            it.attempts.insert([sampleAttempt(order)]),
      ),
  },
  {
    name: 'a second attempt with the same nonce is refused, and everything written with it is undone',
    run: (createStore) =>
      expectTwiceRefused(
        createStore,
        ({ attempt: { nonce } }) =>
          (it) =>
            it.attempts.insert([
              sampleAttempt(sampleOrder(drawDestination()), { nonce }),
            ]),
      ),
  },
  {
    name: 'a second transaction with the same nonce and bump of an account is refused, and everything written with it is undone',
    run: (createStore) =>
      expectTwiceRefused(
        createStore,
        ({ transaction }) =>
          (it) =>
            it.transactions.insert([sampleTransaction(transaction)]),
      ),
  },
  {
    name: 'a log that proves one payment is refused as proof of another, and everything written with it is undone',
    run: (createStore) =>
      expectTwiceRefused(createStore, ({ proof }) => (it) => {
        const { transactionHash, logIndex } = proof
        const facts = { transactionHash, logIndex }
        return it.proofs.insert([sampleProof(drawDestination(), facts)])
      }),
  },
  {
    name: 'rows that differ in one part of their identity are all kept',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const sample = drawSample()
        const { order, transaction, proof } = sample
        const { account, chainId } = transaction
        const { transactionHash, logIndex } = proof
        const elsewhere = { transactionHash, chainId: 1 }
        await store.write(insertAll(sample))
        await store.write(async (it) => {
          await it.attempts.insert([sampleAttempt(order, { number: 2 })])
          await it.transactions.insert([
            sampleTransaction({ account, chainId }, { bump: 1 }),
            sampleTransaction({ account, chainId }, { nonce: 1 }),
            sampleTransaction({ account, chainId: 1 }),
            sampleTransaction(drawSubmitter()),
          ])
          await it.proofs.insert([
            sampleProof(order, { transactionHash, logIndex: logIndex + 1 }),
            sampleProof(order, { logIndex }),
            sampleProof(order, elsewhere),
          ])
        })
        const hashes = [transactionHash]
        const counts = await store.read(async (it) => [
          (await it.attempts.find({ orderIds: [order.id] })).length,
          (await it.transactions.find({ inFlight: { account, chainId } }))
            .length,
          (await it.proofs.find({ hashes, chainId })).length,
        ])
        expectSame('Attempts, transactions and proofs', counts, [2, 3, 2])
      }),
  },
  {
    name: 'of writers that insert the same row at once, one gets through',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const other = await openAnother()
        const { order, attempt } = drawSample()
        const write = (handle: PaymentStore, number: number) =>
          tryAgain(() =>
            handle.write((it) => it.attempts.insert([{ ...attempt, number }])),
          ).then(
            () => 'kept',
            (error) => String(error.name),
          )
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, at) =>
            write(at % 2 ? store : other, at + 1),
          ),
        )
        expectSame('Answers', answers.sort(), [
          ...Array.from({ length: 7 }, () => 'DuplicateRecordError'),
          'kept',
        ])
        const query = { orderIds: [order.id] }
        const found = await store.read((it) => it.attempts.find(query))
        expectSame('Attempts', found.length, 1)
      }),
  },
  {
    name: 'an update of an order is refused if its version is outdated or the row does not exist',
    run: (createStore) =>
      expectStaleRefused(
        createStore,
        ({ order }, version) =>
          (it) =>
            it.orders.update([{ ...order, position: 1n, version }]),
      ),
  },
  {
    name: 'an update of an attempt is refused if its version is outdated or the row does not exist',
    run: (createStore) =>
      expectStaleRefused(
        createStore,
        ({ attempt }, version) =>
          (it) =>
            it.attempts.update([{ ...attempt, version }]),
      ),
  },
  {
    name: 'an update of a transaction is refused if its version is outdated or the row does not exist',
    run: (createStore) =>
      expectStaleRefused(
        createStore,
        ({ transaction }, version) =>
          (it) =>
            it.transactions.update([{ ...transaction, version }]),
      ),
  },
  {
    name: 'an update of a proof is refused if its version is outdated or the row does not exist',
    run: (createStore) =>
      expectStaleRefused(
        createStore,
        ({ proof }, version) =>
          (it) =>
            it.proofs.update([{ ...proof, version }]),
      ),
  },
  {
    name: 'one stale row among 100 refuses them all',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const rows = Array.from({ length: 100 }, () => sampleOrder(destination))
        await store.write(({ orders }) => orders.insert(rows))
        const ids = rows.map(({ id }) => id)
        const read = () => store.read(({ orders }) => orders.find({ ids }))
        const found = await read()
        const mixed = found.map((row, at) => ({
          ...row,
          tries: 1,
          version: at === 60 ? 2 : 1,
        }))
        const unit = store.write(({ orders }) => orders.update(mixed))
        await expectRefusal('The update', unit, 'StaleRecordError')
        const changed = (await read()).filter(({ tries }) => tries)
        expectSame('Changed rows', changed.length, 0)
      }),
  },
]

function drawSample(): Sample {
  const order = sampleOrder(drawDestination())
  const attempt = sampleAttempt(order)
  const transaction = sampleTransaction(drawSubmitter())
  return { order, attempt, transaction, proof: sampleProof(order) }
}

function insertAll({ order, attempt, transaction, proof }: Sample): Step {
  return async (it) => {
    await it.orders.insert([order])
    await it.attempts.insert([attempt])
    await it.transactions.insert([transaction])
    await it.proofs.insert([proof])
  }
}

async function expectTwiceRefused(
  createStore: CreateStore,
  insertAgain: (sample: Sample) => Step,
): Promise<void> {
  await useStore(createStore, async (store) => {
    const sample = drawSample()
    await store.write(insertAll(sample))
    const name = 'DuplicateRecordError'
    await expectUnitRefused(store, insertAgain(sample), name)
    const fresh = drawSample()
    const inOneUnit: Step = async (it) => {
      await insertAll(fresh)(it)
      await insertAgain(fresh)(it)
    }
    await expectUnitRefused(store, inOneUnit, name)
    await store.write(insertAll(fresh))
  })
}

async function expectStaleRefused(
  createStore: CreateStore,
  update: (sample: Sample, version: number) => Step,
): Promise<void> {
  await useStore(createStore, async (store) => {
    const sample = drawSample()
    await store.write(insertAll(sample))
    const name = 'StaleRecordError'
    await expectUnitRefused(store, update(sample, 0), name)
    await expectUnitRefused(store, update(sample, 2), name)
    await store.write(update(sample, 1))
    await expectUnitRefused(store, update(sample, 1), name)
    await expectUnitRefused(store, update(drawSample(), 1), name)
    await expectUnitRefused(
      store,
      async (it) => {
        await update(sample, 2)(it)
        await update(sample, 2)(it)
      },
      name,
    )
    await store.write(update(sample, 2))
  })
}

/**
 * Expects that a refused write undoes everything in its unit of work (database
 * transaction), even if the caller catches the error and continues.
 */
async function expectUnitRefused(
  store: PaymentStore,
  step: Step,
  name: string,
): Promise<void> {
  const [destination, key] = [drawDestination(), drawId()]
  const order = sampleOrder(destination)
  const writeRest: Step = async (it) => {
    await it.orders.insert([order])
    await it.events.append([sampleEvent(destination)])
    await it.setValue(key, { kept: true })
  }
  const unit = store.write(async (it) => {
    await writeRest(it)
    await step(it)
  })
  await expectRefusal('The write', unit, name)
  const caught = await store
    .write(async (it) => {
      await writeRest(it)
      await step(it).catch(() => undefined)
    })
    .then(
      () => 'kept',
      () => 'refused',
    )
  expectSame('A unit whose work caught the refusal', caught, 'refused')
  const rest = await store.read(async (it) => [
    await it.orders.find({ ids: [order.id] }),
    await it.events.find({ destinations: [destination], after: 0n, limit: 9 }),
    await it.getValue(key),
  ])
  expectSame('What is kept of a refused unit', rest, [[], [], undefined])
}
