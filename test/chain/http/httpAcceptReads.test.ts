import { startDevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { openDesk, sell } from '../support/httpDesk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

type Table<query> = { find(query: query): Promise<unknown[]> }

/** A store that notes which rows of an order are read, and where. */
function countReads(): { store: PaymentStore; seen: string[] } {
  const store = memoryStore()
  const seen: string[] = []
  const noting = <query extends object, table extends Table<query>>(
    name: string,
    table: table & Table<query>,
  ): table => ({
    ...table,
    find: (query: query) => {
      if ('ids' in query || 'orderIds' in query) seen.push(name)
      return table.find(query)
    },
  })
  return {
    seen,
    store: {
      ...store,
      read: (work) =>
        store.read((tables) =>
          work({
            ...tables,
            orders: noting('read order', tables.orders),
            attempts: noting('read attempts', tables.attempts),
            proofs: noting('read proofs', tables.proofs),
          }),
        ),
      write: (work, options) =>
        store.write(
          (tables) =>
            work({
              ...tables,
              orders: noting('write order', tables.orders),
              attempts: noting('write attempts', tables.attempts),
              proofs: noting('write proofs', tables.proofs),
            }),
          options,
        ),
    },
  }
}

const load = ['read order', 'read attempts', 'read proofs']

test('an accept over HTTP loads the order once for who asks, and once to judge the payment', async () => {
  const { store, seen } = countReads()
  const desk = await openDesk(chain, { store })
  const { id, token, signed } = await sell(chain, desk)
  seen.length = 0
  const { status } = await desk.ask(`POST /orders/${id}/payment`, {
    token,
    body: signed,
  })
  expect(status).toBe(200)
  expect(seen).toEqual([...load, ...load])
})

test('the same payment again loads the order once for who asks, and once to answer', async () => {
  const { store, seen } = countReads()
  const desk = await openDesk(chain, { store })
  const { id, token, signed } = await sell(chain, desk)
  const request = `POST /orders/${id}/payment`
  await desk.ask(request, { token, body: signed })
  seen.length = 0
  expect((await desk.ask(request, { token, body: signed })).status).toBe(200)
  expect(seen).toEqual([...load, ...load])
})
