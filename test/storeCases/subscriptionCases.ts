import type {
  Destination,
  OrderRole,
  PaymentStore,
  SubscriptionQuery,
  SubscriptionRecord,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  drawId,
  maxTime,
  oddText,
  sampleOrder,
} from './samples.js'
import { expectRefusal, expectSame, useStore } from './tools.js'

type NewSubscription = Omit<SubscriptionRecord, 'version' | 'position'>

const limit = 100

const sampleSubscription = (
  { chainId, token, recipient }: Destination,
  facts: Partial<NewSubscription> = {},
): NewSubscription => ({
  chainId,
  token,
  recipient,
  id: drawId(),
  state: 'active',
  payer: drawAddress(),
  permission: {},
  price: undefined,
  period: 0n,
  chargeId: undefined,
  tries: 0,
  due: undefined,
  ...facts,
})

/**
 * Inserts each subscription in a database transaction of its own, and returns
 * their ids.
 */
async function insertAll(
  store: PaymentStore,
  destination: Destination,
  facts: readonly Partial<NewSubscription>[],
): Promise<string[]> {
  const rows = facts.map((own) => sampleSubscription(destination, own))
  for (const row of rows)
    await store.write((it) => it.subscriptions.insert([row]))
  return rows.map(({ id }) => id)
}

const findIds = (store: PaymentStore, query: SubscriptionQuery) =>
  store.read(async ({ subscriptions }) =>
    (await subscriptions.find(query)).map(({ id }) => id),
  )

/** Rules about subscriptions, and about the orders that belong to them. */
export const subscriptionCases: readonly StoreCase[] = [
  {
    name: 'a subscription comes back as it was given, and counts its updates',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const full = sampleSubscription(drawDestination(), {
          state: 'unpaid',
          permission: { text: oddText, deep: { salt: `${2n ** 256n - 1n}` } },
          price: 2n ** 256n - 1n,
          period: maxTime,
          chargeId: oddText,
          tries: 2 ** 31 - 1,
          due: maxTime,
        })
        await store.write((it) => it.subscriptions.insert([full]))
        const find = async (one: PaymentStore) =>
          (await one.read((it) => it.subscriptions.find({ ids: [full.id] })))[0]
        const found = await find(await openAnother())
        if (!found) throw new Error('The subscription was not found.')
        const { position } = found
        expectSame('The first', found, { ...full, version: 1, position })
        const changed = { ...found, due: undefined, chargeId: undefined }
        await store.write((it) => it.subscriptions.update([changed]))
        expectSame('The second', await find(store), { ...changed, version: 2 })
      }),
  },
  {
    name: 'a second subscription of one id, and an update of an older version, are refused',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const row = sampleSubscription(drawDestination())
        await store.write((it) => it.subscriptions.insert([row]))
        const twice = store.write((it) => it.subscriptions.insert([row]))
        await expectRefusal('The second', twice, 'DuplicateRecordError')
        const [kept] = await store.read((it) =>
          it.subscriptions.find({ ids: [row.id] }),
        )
        if (!kept) throw new Error('The subscription was not found.')
        await store.write((it) => it.subscriptions.update([kept]))
        const stale = store.write((it) => it.subscriptions.update([kept]))
        await expectRefusal('The stale one', stale, 'StaleRecordError')
      }),
  },
  {
    name: 'subscriptions are listed by destination and payer, the newest first',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [here, there] = [drawDestination(), drawDestination()]
        const payer = drawAddress()
        const [one, two] = await insertAll(store, here, [{ payer }, {}])
        const [other] = await insertAll(store, there, [{ payer }])
        const listed = [here, there, here]
        const find = (facts: object) =>
          findIds(store, { listed, limit, ...facts })
        expectSame('All', await find({}), [other, two, one])
        expectSame('Of the payer', await find({ payer }), [other, one])
        expectSame('One', await find({ limit: 1 }), [other])
        const [newest] = await store.read((it) =>
          it.subscriptions.find({ listed, limit }),
        )
        const before = newest?.position
        expectSame('Earlier ones', await find({ before }), [two, one])
        const single = await find({ listed: [there] })
        expectSame('Of one destination', single, [other])
      }),
  },
  {
    name: 'due subscriptions of a destination are found, the earliest first, up to the limit',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const dues = [9n, 5n, undefined, 7n, 11n]
        const ids = await insertAll(
          store,
          destination,
          dues.map((due) => ({ due })),
        )
        await insertAll(store, drawDestination(), [{ due: 5n }])
        const drawOther = () => ({ ...destination, recipient: drawAddress() })
        const other = drawOther()
        const [late, early] = await insertAll(store, other, [
          { due: 8n },
          { due: 6n },
        ])
        const find = (due: readonly Destination[], most = limit) =>
          findIds(store, { due, until: 9n, limit: most })
        const own = await find([destination])
        expectSame('All', own, [ids[1], ids[3], ids[0]])
        expectSame('Two', await find([destination], 2), [ids[1], ids[3]])
        const both = [destination, other, destination]
        const merged = [ids[1], early, ids[3], late, ids[0]]
        expectSame('Of two recipients', await find(both), merged)
        const others = Array.from({ length: 200 }, drawOther)
        const many = Object.freeze([...both, ...others])
        expectSame('Among many', await find(many), merged)
        await insertAll(store, drawOther(), [{ due: 1n }])
        expectSame('Beside a stranger', await find(many), merged)
        expectSame('The first of many', await find(many, 1), [ids[1]])
        expectSame('Of none', await find([]), [])
      }),
  },
  {
    name: 'charges are found by their subscription, the newest first',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const held = sampleOrder(destination, { role: 'permission' })
        const childOf = (parentId: string, role: OrderRole = 'charge') =>
          sampleOrder(destination, { role, parentId, primaryType: undefined })
        const [one, two] = [childOf(held.id), childOf(held.id)]
        const others = [childOf(drawId()), childOf(held.id, 'refund')]
        for (const row of [held, one, two, ...others])
          await store.write((it) => it.orders.insert([row]))
        const find = (facts: { before?: bigint; limit?: number } = {}) =>
          store.read(({ orders }) =>
            orders.find({ chargesOf: held.id, limit, ...facts }),
          )
        const idsOf = (rows: readonly { id: string }[]) =>
          rows.map(({ id }) => id)
        const all = await find()
        expectSame('All', idsOf(all), [two.id, one.id])
        expectSame('Without a message', all[0]?.primaryType, undefined)
        expectSame('One', idsOf(await find({ limit: 1 })), [two.id])
        const before = all[0]?.position ?? 0n
        expectSame('Earlier ones', idsOf(await find({ before })), [one.id])
      }),
  },
  {
    name: 'orders that hold permissions are neither listed nor counted, and charges are',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const held = sampleOrder(destination, { role: 'permission' })
        const charge = sampleOrder(destination, {
          role: 'charge',
          parentId: held.id,
          state: 'captured',
        })
        await store.write((it) => it.orders.insert([held, charge]))
        await store.write(async ({ orders }) => {
          const [row] = await orders.find({ ids: [held.id] })
          if (row) await orders.update([{ ...row, state: 'stored' }])
        })
        const { listed, counts } = await store.read(async ({ orders }) => ({
          listed: await orders.find({ listed: [destination], limit }),
          counts: await orders.count([destination]),
        }))
        const ids = listed.map(({ id }) => id)
        expectSame('Listed', ids, [charge.id])
        expectSame('Counted', counts, { captured: 1 })
      }),
  },
]
