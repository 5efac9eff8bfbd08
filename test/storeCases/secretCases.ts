import type {
  Destination,
  PaymentStore,
  SecretQuery,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawDestination,
  drawId,
  drawSubmitter,
  sampleAttempt,
  sampleOrder,
  sampleTransaction,
} from './samples.js'
import { expectSame, useStore, writeAll } from './tools.js'

/**
 * Rules about secrets of orders: they can be counted and found by the key that
 * encrypted them.
 */
export const secretCases: readonly StoreCase[] = [
  {
    name: 'secrets of orders are counted by the name in front of their first space',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination, other } = await insertSecrets(store)
        const count = (...destinations: Destination[]) =>
          store.read(({ secrets }) => secrets.countKeys(destinations))
        const own = { 'key-1': 3, 'key-2': 3 }
        expectSame('Of one', await count(destination), own)
        const others = { 'key-1': 1, '': 1, constructor: 1 }
        expectSame('Of another', await count(other), others)
        expectSame('Of both', await count(destination, other, destination), {
          ...own,
          ...others,
          'key-1': 4,
        })
        expectSame('Of none', await count(), {})
      }),
  },
  {
    name: 'the secret of a transaction counts for each order that it carries',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destinations = [drawDestination(), drawDestination()]
        const orders = destinations.map((one) => sampleOrder(one))
        const [first, second] = orders.map(({ id }) => id)
        if (!first || !second) throw new Error('No orders.')
        const sent = { ...carrying(first, second), raw: 'key-1 1 a' }
        await writeAll(
          store,
          (it) => it.orders.insert(orders),
          (it) =>
            it.transactions.insert([sampleTransaction(drawSubmitter(), sent)]),
        )
        const ids = [first, second]
        for (const [at, one] of destinations.entries()) {
          const [count, found] = await store.read(async ({ secrets }) => [
            await secrets.countKeys([one]),
            await secrets.findOrderIds({
              destinations: [one],
              except: 'key-2',
              limit: 9,
            }),
          ])
          expectSame('Its secrets', count, { 'key-1': 1 })
          expectSame('Its orders', found, [ids[at]])
        }
      }),
  },
  {
    name: 'orders with a secret of another key are found by id, each once, page by page',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination, other, ids } = await insertSecrets(store)
        const find = (query: Partial<SecretQuery>) =>
          store.read(({ secrets }) =>
            secrets.findOrderIds({
              destinations: [destination],
              except: 'key-2',
              limit: 9,
              ...query,
            }),
          )
        const [first, second, third, fourth] = ids
        const own = [first, second]
        expectSame('All', await find({}), own)
        expectSame('The first', await find({ limit: 1 }), [first])
        expectSame('After it', await find({ after: first }), [second])
        expectSame('After all', await find({ after: second }), [])
        const except = { except: 'key-1' }
        expectSame('Of another key', await find(except), [...own, third])
        const both = { destinations: [destination, other, destination] }
        expectSame('Of both', await find(both), [...own, fourth])
        const page = { ...both, limit: 2, after: first }
        expectSame('A page of both', await find(page), [second, fourth])
        expectSame('Of none', await find({ destinations: [] }), [])
      }),
  },
]

const carrying = (...ids: readonly string[]) => ({
  movements: ids.map((orderId) => ({ orderId, attempt: 1 })),
})

/**
 * Inserts four orders with secrets, sorted by id. The first three have one
 * destination, the fourth another. Also inserts rows that queries for these two
 * destinations must not find.
 */
async function insertSecrets(
  store: PaymentStore,
): Promise<{ destination: Destination; other: Destination; ids: string[] }> {
  const [destination, other] = [drawDestination(), drawDestination()]
  const mixed = { ...destination, recipient: other.recipient }
  const submitter = drawSubmitter()
  const ids = [drawId(), drawId(), drawId(), drawId()].sort()
  const [first, second, third, fourth] = ids.map((id, at) =>
    sampleOrder(at < 3 ? destination : other, { id }),
  )
  const [empty, elsewhere] = [sampleOrder(destination), sampleOrder(mixed)]
  if (!first || !second || !third || !fourth) throw new Error('No orders.')
  const attempts = [
    sampleAttempt(first, { signature: 'key-1 1 a', cancellation: 'key-1 1 b' }),
    sampleAttempt(first, { number: 2, signature: 'key-2 1 c' }),
    sampleAttempt(second, { signature: 'key-1 1 d' }),
    sampleAttempt(third, { signature: 'key-2 1 e' }),
    sampleAttempt(fourth, { signature: 'constructor 1 f', cancellation: 'g' }),
    sampleAttempt(empty),
    sampleAttempt(elsewhere, { signature: 'key-3 1 h' }),
  ]
  const transactions = [
    { ...carrying(second.id), raw: 'key-2 1 i' },
    { ...carrying(fourth.id), raw: 'key-1 1 j' },
    carrying(empty.id),
    { raw: 'key-3 1 k' },
  ]
  await writeAll(
    store,
    (it) => it.orders.insert([fourth, third, second, first, empty, elsewhere]),
    (it) => it.attempts.insert(attempts),
    (it) =>
      it.transactions.insert(
        transactions.map((facts, nonce) =>
          sampleTransaction(submitter, { ...facts, nonce }),
        ),
      ),
  )
  return { destination, other, ids }
}
