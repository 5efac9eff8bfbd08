import type {
  Destination,
  OrderCount,
  OrderQuery,
  OrderState,
  PaymentStore,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  drawId,
  drawSubmitter,
  type NewOrder,
  sampleEvent,
  sampleOrder,
  sampleProof,
} from './samples.js'
import { expectRows, expectSame, useStore } from './tools.js'

const limit = 100

/**
 * Rules about queries for orders: each returns the right rows, in the right
 * order.
 */
export const orderQueryCases: readonly StoreCase[] = [
  {
    name: 'orders are found by their ids, each once',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination, ids } = await insertNumbered(store, [
          { needsReview: true },
          {},
          { needsReview: true },
        ])
        const wanted = [ids[2], drawId(), ids[0], ids[2]].map(String)
        const found = await findIds(store, { ids: wanted })
        expectRows('By ids', found, [ids[0], ids[2]])
        expectSame('By no ids', await findIds(store, { ids: [] }), [])
        const needReview = [...wanted, String(ids[1])]
        expectSame(
          'Those that need a review',
          await findIds(store, { needReview }),
          [ids[2], ids[0]],
        )
        expectSame(
          'None that needs a review',
          await findIds(store, { needReview: [] }),
          [],
        )
        await store.write(async (it) => {
          const [first] = await it.orders.find({ needReview })
          if (!first) return
          await it.orders.update([{ ...first, needsReview: false }])
          const left = await it.orders.find({ needReview })
          expectSame(
            'In the unit of work that ends a review',
            left.map(({ id }) => id),
            [ids[0]],
          )
        })
        const all = await findIds(store, { listed: [destination], limit })
        expectSame('All there are', all.length, 3)
      }),
  },
  {
    name: 'orders are listed newest first, a page before a position',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination, ids } = await insertNumbered(
          store,
          Array.from({ length: 7 }, () => ({})),
        )
        const pages: string[][] = []
        let before: bigint | undefined
        while (pages.length < 5) {
          const query = { listed: [destination], before, limit: 3 }
          const page = await store.read((it) => it.orders.find(query))
          pages.push(page.map(({ id }) => id))
          before = page.at(-1)?.position
          if (page.length === 0) break
        }
        const newest = [...ids].reverse()
        expectSame('Pages', pages, [
          newest.slice(0, 3),
          newest.slice(3, 6),
          newest.slice(6),
          [],
        ])
      }),
  },
  {
    name: 'orders are listed by states and by payer',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const payer = drawAddress()
        const { destination, ids } = await insertNumbered(store, [
          { state: 'stored', payer },
          { state: 'captured', payer },
          { state: 'stored', payer: drawAddress() },
          { state: 'drafted' },
        ])
        const list = (facts: object) =>
          findIds(store, { listed: [destination], limit, ...facts })
        const open = { states: ['stored', 'drafted'] }
        expectSame('States', await list(open), [ids[3], ids[2], ids[0]])
        expectSame('Payer', await list({ payer }), [ids[1], ids[0]])
        expectSame('Both', await list({ ...open, payer }), [ids[0]])
        expectSame('No state', await list({ states: [] }), [])
        const nobody = { payer: drawAddress() }
        expectSame('A stranger', await list(nobody), [])
      }),
  },
  {
    name: 'orders with something to send come by deadline, until a time and of some recipients',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const account = drawAddress()
        const due = (deadline: bigint, sendDue?: bigint) => ({
          submitter: account,
          deadline,
          sendDue,
        })
        const { destination, ids } = await insertNumbered(store, [
          due(300n, 10n),
          due(100n, 30n),
          due(200n, 20n),
          due(50n, 31n),
          due(10n),
          { ...due(20n, 5n), submitter: drawAddress() },
        ])
        const other = { ...destination, recipient: drawAddress() }
        const elsewhere = { ...destination, chainId: destination.chainId + 1 }
        const away = sampleOrder(other, due(150n, 10n))
        const far = sampleOrder(elsewhere, due(1n, 1n))
        await store.write((it) => it.orders.insert([away, far]))
        const find = (...recipients: Destination['recipient'][]) =>
          findIds(store, {
            sendDue: { chainId: destination.chainId, account },
            recipients,
            until: 30n,
            limit,
          })
        const own = [ids[1], ids[2], ids[0]]
        expectSame('Of one', await find(destination.recipient), own)
        const both = await find(destination.recipient, other.recipient)
        expectSame('Of two', both, [ids[1], away.id, ids[2], ids[0]])
        expectSame('Of none', await find(), [])
        const first = await findIds(store, {
          sendDue: { chainId: destination.chainId, account },
          recipients: [destination.recipient],
          until: 30n,
          limit: 2,
        })
        expectSame('The first two', first, own.slice(0, 2))
      }),
  },
  {
    name: 'orders that a worker must check come in the order of their due times, up to a given time',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination, ids } = await insertNumbered(store, [
          { lookDue: 30n },
          { lookDue: 9n },
          { lookDue: 31n },
          {},
          { lookDue: 20n },
        ])
        const find = (most: number) =>
          findIds(store, { lookDue: [destination], until: 30n, limit: most })
        expectSame('All', await find(limit), [ids[1], ids[4], ids[0]])
        expectSame('Two', await find(2), [ids[1], ids[4]])
      }),
  },
  {
    name: 'settled orders come by block, of one finality and between blocks',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const settled = (settledBlock: bigint): Partial<NewOrder> => ({
          settledBlock,
          finality: 'included',
          state: 'captured',
        })
        const { destination, ids } = await insertNumbered(store, [
          settled(100n),
          settled(9n),
          { ...settled(50n), finality: 'safe' },
          settled(20n),
          settled(101n),
          {},
        ])
        const find = (facts: object) =>
          findIds(store, {
            settled: [destination],
            finality: 'included',
            limit,
            ...facts,
          })
        const all = [ids[1], ids[3], ids[0], ids[4]]
        expectSame('All', await find({}), all)
        expectSame('Two', await find({ limit: 2 }), all.slice(0, 2))
        expectSame('From', await find({ fromBlock: 20n }), all.slice(1))
        expectSame('To', await find({ toBlock: 100n }), all.slice(0, 3))
        const between = { fromBlock: 20n, toBlock: 100n }
        expectSame('Between', await find(between), all.slice(1, 3))
        expectSame('Safe', await find({ finality: 'safe' }), [ids[2]])
        expectSame('Final', await find({ finality: 'finalized' }), [])
      }),
  },
  {
    name: 'unsettled orders come oldest first, a page after a position',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const payer = drawAddress()
        const { destination, ids } = await insertNumbered(store, [
          { payer, lookDue: 9n },
          { payer },
          { lookDue: 9n },
          { payer, lookDue: 1n },
          { payer, lookDue: 5n },
        ])
        const find = (facts: object) =>
          findIds(store, { unsettled: [destination], limit, ...facts })
        const all = [ids[0], ids[3], ids[4]]
        expectSame('All', await find({}), all)
        expectSame('Two', await find({ limit: 2 }), all.slice(0, 2))
        const found = await store.read((it) =>
          it.orders.find({ ids: [String(ids[3])] }),
        )
        const after = found[0]?.position
        expectSame('After the second', await find({ after }), all.slice(2))
      }),
  },
  {
    name: 'the oldest orders come first, in any state',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination, ids } = await insertNumbered(store, [
          { state: 'captured', createdAt: 30n },
          { state: 'stored', lookDue: 1n, payer: drawAddress() },
          { createdAt: 10n },
        ])
        await insertNumbered(store, [{}])
        const find = (most: number) =>
          findIds(store, { oldest: destination, limit: most })
        expectSame('All', await find(limit), ids)
        expectSame('One', await find(1), ids.slice(0, 1))
        const none = { oldest: drawDestination(), limit }
        expectSame('Of a new one', await findIds(store, none), [])
      }),
  },
  {
    name: 'orders are counted by state',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { destination } = await insertNumbered(store, [
          { state: 'stored' },
          { state: 'captured' },
          { state: 'stored' },
        ])
        const other = await insertNumbered(store, [{ state: 'stored' }])
        const count = (...destinations: Destination[]) =>
          store.read((it) => it.orders.count(destinations))
        expectSame('Of one', await count(destination), {
          stored: 2,
          captured: 1,
        })
        const both = await count(destination, other.destination)
        expectSame('Of two', both, { stored: 3, captured: 1 })
        expectSame('Of one, twice', await count(destination, destination), {
          stored: 2,
          captured: 1,
        })
        expectSame('Of none', await count(), {})
        expectSame('Of a new one', await count(drawDestination()), {})
        const each = await store.read((it) =>
          it.orders.countEach([destination, other.destination]),
        )
        const textOf = (one: OrderCount) =>
          `${one.recipient} ${one.state} ${one.count}`
        expectRows('Of each', each.map(textOf), [
          `${destination.recipient} stored 2`,
          `${destination.recipient} captured 1`,
          `${other.destination.recipient} stored 1`,
        ])
      }),
  },
  {
    name: 'counts follow orders from state to state',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const { destination, ids } = await insertNumbered(store, [
          { state: 'stored' },
          { state: 'stored' },
          { state: 'captured' },
        ])
        const count = () => store.read((it) => it.orders.count([destination]))
        const move = (...states: OrderState[]) =>
          store.write(async (it) => {
            for (const state of states) {
              const rows = await it.orders.find({ ids: ids.slice(0, 2) })
              await it.orders.update(rows.map((row) => ({ ...row, state })))
            }
          })
        await move('capturing')
        expectSame('Moved', await count(), { capturing: 2, captured: 1 })
        await move('stored', 'capturing', 'captured')
        expectSame('Moved thrice', await count(), { captured: 3 })
        const failing = store.write(async (it) => {
          const rows = await it.orders.find({ ids })
          await it.orders.update(
            rows.map((row) => ({ ...row, state: 'consumed' })),
          )
          throw new Error('rolled back')
        })
        await failing.catch(() => undefined)
        expectSame('Rolled back', await count(), { captured: 3 })
        const rows = await store.read((it) => it.orders.find({ ids }))
        // Uses a second handle to the database, which changes rows that it has
        // not loaded.
        const other = await openAnother()
        await other.write((it) =>
          it.orders.update(rows.map((row) => ({ ...row, state: 'canceled' }))),
        )
        expectSame('By another', await count(), { canceled: 3 })
      }),
  },
  {
    name: 'a query returns only rows of the destinations it was given',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const own = [drawDestination(), drawDestination({ chainId: 10 })]
        const strange = crossDestinations(own)
        for (const destination of [...own, ...strange]) {
          const order = sampleOrder(destination, {
            payer: drawAddress(),
            lookDue: 1n,
            finality: 'safe',
            settledBlock: 1n,
          })
          await store.write(async (it) => {
            await it.orders.insert([order])
            await it.proofs.insert([sampleProof(destination)])
            await it.events.append([sampleEvent(destination)])
          })
        }
        const pick = (rows: readonly Destination[]) =>
          rows.map(({ chainId, token, recipient }) => ({
            chainId,
            token,
            recipient,
          }))
        const [one, two] = own
        if (!one || !two) return
        const ask = (query: OrderQuery) =>
          store.read(async (it) => pick(await it.orders.find(query)))
        for (const destinations of [[one], [two], own, []]) {
          const { listed, proofs, events, counts } = await store.read(
            async (it) => ({
              listed: await it.orders.find({ listed: destinations, limit }),
              proofs: await it.proofs.find({ destinations, limit }),
              events: await it.events.find({ destinations, after: 0n, limit }),
              counts: await it.orders.count(destinations),
            }),
          )
          expectRows('Listed', pick(listed), destinations)
          expectRows('Proofs', pick(proofs), destinations)
          expectRows('Events', pick(events), destinations)
          expectSame('Counted', counts.drafted ?? 0, destinations.length)
        }
        for (const destinations of [[one], [two], own, []]) {
          const look = { lookDue: destinations, until: 9n, limit }
          expectRows('Due', await ask(look), destinations)
          const settled = { settled: destinations, finality: 'safe' } as const
          expectRows('Settled', await ask({ ...settled, limit }), destinations)
          const unsettled = { unsettled: destinations, limit }
          expectRows('Open', await ask(unsettled), destinations)
        }
        expectSame('Oldest', await ask({ oldest: one, limit }), [one])
      }),
  },
  {
    name: 'a query of hundreds of destinations finds the rows of all of them, in order',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const tokens = [drawAddress(), drawAddress()]
        const all = Array.from({ length: 300 }, (_, at) =>
          drawDestination({ token: tokens[at % 2] ?? drawAddress() }),
        )
        const own = [...all.slice(0, 3), ...all.slice(-1)]
        // Inserts newer rows of other shops, some in the same tokens. The
        // queries must not return them.
        const others = [undefined, ...tokens].map((token) =>
          drawDestination(token && { token }),
        )
        const submitter = drawSubmitter()
        const ids: string[] = []
        for (const [at, destination] of [...own, ...others].entries()) {
          const order = sampleOrder(destination, {
            state: at === 1 ? 'captured' : 'stored',
            submitter: submitter.account,
            payer: drawAddress(),
            finality: 'safe',
            settledBlock: BigInt(9 - at),
            sendDue: 1n,
            deadline: BigInt(9 - at),
            lookDue: BigInt(9 - at),
          })
          ids.push(order.id)
          await store.write(async (it) => {
            await it.orders.insert([order])
            await it.proofs.insert([sampleProof(destination)])
            await it.events.append([sampleEvent(destination)])
          })
        }
        const [first, second, third, fourth] = ids
        const listed = await findIds(store, { listed: all, limit })
        expectSame('Listed', listed, [fourth, third, second, first])
        const states: OrderState[] = ['stored', 'expired']
        const stored = await findIds(store, { listed: all, states, limit: 2 })
        expectSame('Listed by state', stored, [fourth, third])
        const none = { listed: all, states: [], limit }
        expectSame('Listed by no state', await findIds(store, none), [])
        const due = { lookDue: all, until: 9n, limit }
        const byTime = [fourth, third, second, first]
        expectSame('Due', await findIds(store, due), byTime)
        const next = { ...due, limit: 1 }
        expectSame('The first due', await findIds(store, next), [fourth])
        const send = {
          sendDue: submitter,
          recipients: all.map(({ recipient }) => recipient),
          until: 9n,
          limit: 3,
        }
        expectSame('To send', await findIds(store, send), byTime.slice(0, 3))
        const settled = { settled: all, finality: 'safe', limit: 2 } as const
        const lowest = byTime.slice(0, 2)
        expectSame('Settled', await findIds(store, settled), lowest)
        const open = { unsettled: all, limit: 9 }
        const inOrder = [first, second, third, fourth]
        expectSame('Open', await findIds(store, open), inOrder)
        const found = await store.read(async (it) => ({
          proofs: await it.proofs.find({ destinations: all, limit }),
          events: await it.events.find({ destinations: all, after: 0n, limit }),
          newest: await it.events.find({ newest: all }),
          counts: await it.orders.count(all),
          each: await it.orders.countEach(all),
        }))
        expectSame('Proofs', found.proofs.length, own.length)
        const recipients = found.events.map(({ recipient }) => recipient)
        const expected = own.map(({ recipient }) => recipient)
        expectSame('Events', recipients, expected)
        expectSame('Newest', found.newest[0]?.recipient, expected.at(-1))
        expectSame('Counts', found.counts, { stored: 3, captured: 1 })
        const counted = found.each.map(({ recipient }) => recipient)
        expectRows('Counts of each', counted, expected)
      }),
  },
]

/**
 * Returns all combinations of the chains, tokens and recipients of these
 * destinations, except the destinations themselves.
 */
function crossDestinations(
  destinations: readonly Destination[],
): Destination[] {
  return destinations.flatMap(({ chainId }, a) =>
    destinations.flatMap(({ token }, b) =>
      destinations.flatMap(({ recipient }, c) =>
        a === b && b === c ? [] : { chainId, token, recipient },
      ),
    ),
  )
}

/** Inserts orders for a new destination, in this order. Returns their ids. */
async function insertNumbered(
  store: PaymentStore,
  facts: readonly Partial<NewOrder>[],
): Promise<{ destination: Destination; ids: string[] }> {
  const destination = drawDestination()
  const rows = facts.map((own) => sampleOrder(destination, own))
  // Inserts each row in a database transaction of its own, so that the rows get
  // their positions in this order.
  for (const row of rows) await store.write((it) => it.orders.insert([row]))
  return { destination, ids: rows.map(({ id }) => id) }
}

async function findIds(
  store: PaymentStore,
  query: OrderQuery,
): Promise<string[]> {
  const found = await store.read(({ orders }) => orders.find(query))
  return found.map(({ id }) => id)
}
