import type { Destination, PaymentStore } from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  drawId,
  type NewOrder,
  sampleOrder,
} from './samples.js'
import { expectSame, useStore } from './tools.js'

const limit = 100

/**
 * Rules about refunds: they are stored like orders, but only queries for
 * refunds find them.
 */
export const refundCases: readonly StoreCase[] = [
  {
    name: 'refunds are found by their orders, oldest first',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const [one, two] = [drawId(), drawId()]
        const ids = await insertRefunds(store, destination, [
          { parentId: one },
          { parentId: two, state: 'captured' },
          { parentId: one, state: 'voided' },
        ])
        await insertRefunds(store, destination, [
          { parentId: drawId() },
          { parentId: one, role: 'charge' },
        ])
        const find = (refundsOf: readonly string[]) =>
          store.read(async ({ orders }) =>
            (await orders.find({ refundsOf })).map(({ id }) => id),
          )
        expectSame('Of one', await find([one]), [ids[0], ids[2]])
        expectSame('Of both', await find([two, one, two]), ids)
        expectSame('Of none', await find([drawId()]), [])
        expectSame('Without orders', await find([]), [])
      }),
  },
  {
    name: 'refunds are neither listed nor counted as orders',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const order = sampleOrder(destination, { state: 'captured' })
        await store.write((it) => it.orders.insert([order]))
        const [id] = await insertRefunds(store, destination, [
          { parentId: order.id, state: 'captured' },
        ])
        await store.write(async ({ orders }) => {
          const [refund] = await orders.find({ ids: [String(id)] })
          if (refund) await orders.update([{ ...refund, state: 'canceled' }])
        })
        const { listed, counts, found } = await store.read(
          async ({ orders }) => ({
            listed: await orders.find({ listed: [destination], limit }),
            counts: await orders.count([destination]),
            found: await orders.find({ ids: [String(id)] }),
          }),
        )
        expectSame(
          'Listed',
          listed.map((row) => row.id),
          [order.id],
        )
        expectSame('Counted', counts, { captured: 1 })
        expectSame(
          'By its id',
          found.map((row) => row.state),
          ['canceled'],
        )
      }),
  },
  {
    name: 'refunds that wait to be signed come oldest first, a page after a position',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const ids = await insertRefunds(store, destination, [
          {},
          { state: 'stored' },
          {},
          {},
        ])
        await store.write((it) => it.orders.insert([sampleOrder(destination)]))
        await insertRefunds(store, drawDestination(), [{}])
        const find = (facts: { after?: bigint; limit?: number }) =>
          store.read(({ orders }) =>
            orders.find({ refundsDue: [destination], limit, ...facts }),
          )
        const idsOf = (rows: readonly { id: string }[]) =>
          rows.map(({ id }) => id)
        const all = await find({})
        expectSame('All', idsOf(all), [ids[0], ids[2], ids[3]])
        expectSame('One', idsOf(await find({ limit: 1 })), [ids[0]])
        const after = all[0]?.position ?? 0n
        expectSame('Later ones', idsOf(await find({ after })), [ids[2], ids[3]])
      }),
  },
]

/**
 * Inserts each refund in a database transaction of its own, and returns their
 * ids.
 */
async function insertRefunds(
  store: PaymentStore,
  destination: Destination,
  facts: readonly Partial<NewOrder>[],
): Promise<string[]> {
  const rows = facts.map((own) =>
    sampleOrder(destination, {
      role: 'refund',
      parentId: drawId(),
      parentAttempt: 1,
      payee: drawAddress(),
      payer: destination.recipient,
      ...own,
    }),
  )
  for (const row of rows) await store.write((it) => it.orders.insert([row]))
  return rows.map(({ id }) => id)
}
