import type {
  Destination,
  PaymentStore,
  StoreReader,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  drawHash,
  drawId,
  type NewOrder,
  sampleAttempt,
  sampleEvent,
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from './samples.js'
import { expectRefusal, expectSame, useStore } from './tools.js'

const limit = 100

/** Unix seconds after all orders that are over. */
const before = 1_750_100_000n

/**
 * Rules about the archive, which a store may have: what is over moves there and
 * is still found, and comes back when it changes.
 */
export const archiveCases: readonly StoreCase[] = [
  {
    name: 'what was archived is found as before',
    run: (createStore) =>
      useArchive(createStore, async (store, archive) => {
        const paid = await insertPaid(store)
        const shown = await showAll(store, paid)
        expectSame('Moved', (await archive(paid.destination)).moved, 2)
        expectSame('Found', await showAll(store, paid), shown)
        expectSame('Again', (await archive(paid.destination)).moved, 0)
        const inUnit = await store.write((it) =>
          it.orders.find({ ids: paid.ids }),
        )
        expectSame('In a unit', inUnit, shown.orders)
      }),
  },
  {
    name: 'only what is over is archived',
    run: (createStore) =>
      useArchive(createStore, async (store, archive) => {
        const destination = drawDestination()
        const final = { state: 'captured', finality: 'finalized' } as const
        const stay: Partial<NewOrder>[] = [
          { ...final, createdAt: before },
          { ...final, sendDue: 0n },
          { ...final, lookDue: 0n },
          { ...final, needsReview: true },
          { ...final, early: 'answered' },
          { ...final, state: 'expired', early: 'unpaid' },
          { ...final, role: 'permission' },
          { ...final, role: 'movement' },
          { ...final, finality: 'safe' },
          { ...final, finality: undefined },
          { state: 'stored' },
        ]
        const go: Partial<NewOrder>[] = [
          { ...final },
          { ...final, early: 'paid' },
          { ...final, role: 'charge', parentId: drawId() },
          { ...final, role: 'refund', parentId: drawId() },
          { ...final, state: 'expired' },
        ]
        const rows = [...stay, ...go].map((facts) =>
          sampleOrder(destination, facts),
        )
        const newest = sampleOrder(destination, final)
        await store.write((it) => it.orders.insert([...rows, newest]))
        expectSame('Moved', (await archive(destination)).moved, go.length)
        expectSame('Others', (await archive(drawDestination())).moved, 0)
      }),
  },
  {
    name: 'an order with a secret or a transaction in flight is not archived',
    run: (createStore) =>
      useArchive(createStore, async (store, archive) => {
        const paid = await insertPaid(store, { raw: 'key-1 a' })
        expectSame('Raw', (await archive(paid.destination)).moved, 0)
        const sent = await insertPaid(store, { inFlight: true })
        expectSame('In flight', (await archive(sent.destination)).moved, 0)
        const signed = await insertPaid(store, {}, { signature: 'key-1 a' })
        expectSame('Signed', (await archive(signed.destination)).moved, 0)
        const open = await insertPaid(store, {}, { spendable: true })
        expectSame('Spendable', (await archive(open.destination)).moved, 0)
      }),
  },
  {
    name: 'an archived order that changes comes back with all that belongs to it',
    run: (createStore) =>
      useArchive(createStore, async (store, archive) => {
        const paid = await insertPaid(store)
        const { destination, ids } = paid
        await archive(destination)
        const change = (refunds: number) =>
          store.write(async ({ orders }) => {
            const [order] = await orders.find({ ids: [String(ids[0])] })
            if (order) await orders.update([{ ...order, refunds }])
          })
        await change(1)
        const [order] = (await showAll(store, paid)).orders
        expectSame('Changed', [order?.refunds, order?.version], [1, 2])
        // Its transaction came back, and the other order's has nothing to wait
        // for.
        const moved = await archive(destination)
        expectSame('Again', moved.moved, 1)
        for (const table of ['attempts', 'proofs', 'transactions'] as const) {
          const shown = await showAll(store, paid)
          await store.write(async (it) => {
            if (table === 'attempts') await it.attempts.update(shown.attempts)
            if (table === 'proofs') await it.proofs.update(shown.proofs)
            if (table === 'transactions')
              await it.transactions.update(shown.transactions)
          })
          const later = await showAll(store, paid)
          const versions = later[table].map(({ version }) => version)
          const wanted = shown[table].map(({ version }) => version + 1)
          expectSame(table, versions, wanted)
          expectSame('Orders stay', later.orders, shown.orders)
          // A transaction comes back with the first of its orders.
          const back = table === 'transactions' ? 1 : 2
          expectSame('Back again', (await archive(destination)).moved, back)
        }
        const other = sampleOrder(destination)
        const given = await store.write(async ({ orders, proofs }) => {
          await orders.insert([other])
          const [proof] = await proofs.find({ orderIds: ids })
          if (proof) await proofs.update([{ ...proof, orderId: other.id }])
          return proofs.find({ orderIds: [other.id] })
        })
        expectSame('Given away', given.length, 1)
      }),
  },
  {
    name: 'no row repeats one of the archive',
    run: (createStore) =>
      useArchive(createStore, async (store, archive) => {
        const { destination, ids, nonces, proof } = await insertPaid(store)
        await archive(destination)
        const order = sampleOrder(destination, { id: String(ids[0]) })
        const name = 'DuplicateRecordError'
        const refuse = (rule: string, work: Promise<unknown>) =>
          expectRefusal(rule, work, name)
        await refuse(
          'Id',
          store.write((it) =>
            it.orders.insert([sampleOrder(destination), order]),
          ),
        )
        const other = sampleOrder(destination)
        const attempt = sampleAttempt(other, { nonce: nonces[0] ?? '0x' })
        await refuse(
          'Nonce',
          store.write(async (it) => {
            await it.orders.insert([other])
            await it.attempts.insert([
              sampleAttempt(other, { number: 2 }),
              attempt,
            ])
          }),
        )
        await refuse(
          'Proof',
          store.write((it) => it.proofs.insert([proof])),
        )
        const found = await store.read((it) =>
          it.orders.find({ ids: [other.id] }),
        )
        expectSame('Nothing of it', found, [])
        await refuse(
          'Number',
          store.write((it) => it.attempts.insert([sampleAttempt(order)])),
        )
        const young = sampleAttempt(other)
        await store.write(async (it) => {
          await it.orders.insert([other])
          await it.attempts.insert([young])
        })
        const nonce = nonces[0] ?? '0x'
        await refuse(
          'Changed nonce',
          store.write((it) =>
            it.attempts.update([{ ...young, version: 1, nonce }]),
          ),
        )
        const now = await store.read((it) =>
          it.attempts.find({ nonces: [nonce, young.nonce] }),
        )
        const orderIds = now.map(({ orderId }) => orderId).sort()
        expectSame('Each once', orderIds, [order.id, other.id].sort())
      }),
  },
  {
    name: 'orders after archived ones have higher positions',
    run: (createStore) =>
      useArchive(createStore, async (store, archive) => {
        const { destination, ids } = await insertPaid(store)
        const last = sampleOrder(destination)
        await store.write((it) => it.orders.insert([last]))
        await archive(destination)
        const next = sampleOrder(destination)
        await store.write((it) => it.orders.insert([next]))
        const page = await store.read((it) =>
          it.orders.find({ listed: [destination], limit }),
        )
        const listed = page.map(({ id }) => id)
        const newest = listed.slice(0, 2)
        expectSame('Newest first', newest, [next.id, last.id])
        expectSame('Then', [...listed.slice(-2)].reverse(), ids)
      }),
  },
  {
    name: 'the archive is filled by pages, while orders change',
    run: (createStore) =>
      useArchive(createStore, async (store) => {
        const destination = drawDestination()
        const over = { state: 'expired', finality: 'finalized' } as const
        const orders = Array.from({ length: 25 }, () =>
          sampleOrder(destination, over),
        )
        await store.write((it) => it.orders.insert(orders))
        await store.write((it) =>
          it.orders.insert([sampleOrder(drawDestination())]),
        )
        let after: bigint | undefined
        let moved = 0
        do {
          const page = await store.archive?.({
            over: [destination],
            before,
            after,
            limit: 10,
          })
          moved += page?.moved ?? 0
          after = page?.last
        } while (after !== undefined)
        expectSame('Moved', moved, orders.length)
        await Promise.all([
          ...orders.slice(0, 5).map(({ id }) =>
            store.write(async (it) => {
              const [order] = await it.orders.find({ ids: [id] })
              if (order) await it.orders.update([{ ...order, tries: 1 }])
            }),
          ),
          store.archive?.({ over: [destination], before, limit }),
        ])
        const ids = orders.map(({ id }) => id)
        const found = await store.read((it) => it.orders.find({ ids }))
        const tries = found.map((order) => order.tries)
        const wanted = ids.map((_, at) => (at < 5 ? 1 : 0))
        expectSame('All of them', tries, wanted)
        const counts = await store.read((it) => it.orders.count([destination]))
        expectSame('Counted', counts, { expired: orders.length })
      }),
  },
]

type Archive = (
  destination: Destination,
) => Promise<{ moved: number; last: bigint | undefined }>

/** Does nothing with a store that has no archive. */
function useArchive(
  createStore: Parameters<typeof useStore>[0],
  work: (store: PaymentStore, archive: Archive) => Promise<void>,
): Promise<void> {
  return useStore(createStore, async (store) => {
    const { archive } = store
    if (!archive) return
    await work(store, (destination) =>
      archive({ over: [destination], before, limit }),
    )
  })
}

/**
 * Inserts two orders that one transaction captured, with all that belongs to
 * them, and after them an order of somebody else.
 */
async function insertPaid(
  store: PaymentStore,
  sent: { raw?: string; inFlight?: boolean } = {},
  signed: { signature?: string; spendable?: boolean } = {},
) {
  const destination = drawDestination()
  const { chainId, recipient } = destination
  const payer = drawAddress()
  const hash = drawHash()
  const orders = [1, 2].map(() =>
    sampleOrder(destination, {
      state: 'captured',
      finality: 'finalized',
      payer,
      settledHash: hash,
      settledBlock: 7n,
    }),
  )
  const ids = orders.map(({ id }) => id)
  const attempts = orders.map((order) =>
    sampleAttempt(order, { payer, ...signed }),
  )
  const proofs = ids.map((orderId, logIndex) =>
    sampleProof(destination, {
      kind: 'capture',
      transactionHash: hash,
      logIndex,
      orderId,
      attempt: 1,
      blockNumber: 7n,
    }),
  )
  const submitter = { chainId, account: recipient }
  await store.write(async (it) => {
    await it.orders.insert(orders)
    await it.attempts.insert(attempts)
    await it.transactions.insert([
      sampleTransaction(submitter, {
        hash,
        inFlight: false,
        movements: ids.map((orderId) => ({ orderId, attempt: 1 })),
        ...sent,
      }),
    ])
    await it.proofs.insert(proofs)
    await it.events.append(
      ids.flatMap((orderId) =>
        [1, 2].map((sequence) =>
          sampleEvent(destination, { orderId, sequence }),
        ),
      ),
    )
  })
  await store.write((it) => it.orders.insert([sampleOrder(drawDestination())]))
  const nonces = attempts.map(({ nonce }) => nonce)
  const [proof = sampleProof(destination)] = proofs
  return { destination, payer, hash, ids, nonces, proof, submitter }
}

type Paid = Awaited<ReturnType<typeof insertPaid>>

/** What each query that finds archived rows shows of these orders. */
function showAll(
  store: PaymentStore,
  { destination, payer, hash, ids, nonces, submitter }: Paid,
) {
  const { chainId } = destination
  const destinations = [destination]
  return store.read(async (it: StoreReader) => ({
    orders: await it.orders.find({ ids }),
    attempts: await it.attempts.find({ orderIds: ids }),
    proofs: await it.proofs.find({ orderIds: ids }),
    transactions: await it.transactions.find({ orderIds: ids }),
    others: [
      await it.orders.find({ listed: destinations, limit }),
      await it.orders.find({
        listed: destinations,
        payer,
        states: ['captured', 'expired'],
        limit: 1,
      }),
      await it.orders.find({ oldest: destination, limit: 1 }),
      await it.orders.count(destinations),
      await it.attempts.find({ nonces }),
      await it.transactions.find({ hashes: [hash], chainId }),
      await it.transactions.find({ at: submitter, nonce: 0 }),
      await it.transactions.find({ sentBy: submitter, fromNonce: 0, limit }),
      await it.transactions.find({ orderIds: ids.slice(1) }),
      await it.proofs.find({ hashes: [hash], chainId }),
      await it.proofs.find({ destinations, limit }),
      await it.events.find({ orderIds: ids }),
      await it.events.find({ destinations, after: 0n, limit: 3 }),
      await it.events.find({ newest: destinations }),
      await it.events.find({ newest: 'all' }),
    ],
  }))
}
