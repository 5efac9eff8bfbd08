import type { OrderQuery, PaymentStore, Scope } from '../store/types.js'
import {
  drawAddress,
  drawId,
  drawScope,
  type NewOrder,
  sampleEvent,
  sampleOrder,
  sampleProof,
} from './storeCasesSamples.js'
import {
  expectRows,
  expectSame,
  type StoreCase,
  useStore,
} from './storeCasesTools.js'

const limit = 100

/** Each query for orders gives what it asks for, in its order. */
export const orderQueryCases: readonly StoreCase[] = [
  {
    name: 'orders are found by their ids, each once',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { scope, ids } = await insertNumbered(store, [{}, {}, {}])
        const found = await findIds(store, {
          ids: [ids[2], drawId(), ids[0], ids[2]].map(String),
        })
        expectRows('By ids', found, [ids[0], ids[2]])
        expectSame('By no ids', await findIds(store, { ids: [] }), [])
        const all = await findIds(store, { listed: [scope], limit })
        expectSame('All there are', all.length, 3)
      }),
  },
  {
    name: 'orders are listed newest first, a page before a place',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { scope, ids } = await insertNumbered(
          store,
          Array.from({ length: 7 }, () => ({})),
        )
        const pages: string[][] = []
        let before: bigint | undefined
        while (pages.length < 5) {
          const query = { listed: [scope], before, limit: 3 }
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
        const { scope, ids } = await insertNumbered(store, [
          { state: 'stored', payer },
          { state: 'captured', payer },
          { state: 'stored', payer: drawAddress() },
          { state: 'drafted' },
        ])
        const list = (facts: object) =>
          findIds(store, { listed: [scope], limit, ...facts })
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
    name: 'what a lane has to send comes by deadline, until a time and of some recipients',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const account = drawAddress()
        const due = (deadline: bigint, sendDue?: bigint) => ({
          ...{ lane: account, deadline, sendDue },
        })
        const { scope, ids } = await insertNumbered(store, [
          due(300n, 10n),
          due(100n, 30n),
          due(200n, 20n),
          due(50n, 31n),
          due(10n),
          { ...due(20n, 5n), lane: drawAddress() },
        ])
        const other = { ...scope, recipient: drawAddress() }
        const elsewhere = { ...scope, chainId: scope.chainId + 1 }
        const away = sampleOrder(other, due(150n, 10n))
        const far = sampleOrder(elsewhere, due(1n, 1n))
        await store.write((it) => it.orders.insert([away, far]))
        const find = (...recipients: Scope['recipient'][]) =>
          findIds(store, {
            sendDue: { chainId: scope.chainId, account },
            ...{ recipients, until: 30n, limit },
          })
        const own = [ids[1], ids[2], ids[0]]
        expectSame('Of one', await find(scope.recipient), own)
        const both = await find(scope.recipient, other.recipient)
        expectSame('Of two', both, [ids[1], away.id, ids[2], ids[0]])
        expectSame('Of none', await find(), [])
        const first = await findIds(store, {
          sendDue: { chainId: scope.chainId, account },
          ...{ recipients: [scope.recipient], until: 30n, limit: 2 },
        })
        expectSame('The first two', first, own.slice(0, 2))
      }),
  },
  {
    name: 'what the chain has to be asked about comes by when it is due, until a time',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { scope, ids } = await insertNumbered(store, [
          { lookDue: 30n },
          { lookDue: 9n },
          { lookDue: 31n },
          {},
          { lookDue: 20n },
        ])
        const find = (most: number) =>
          findIds(store, { lookDue: scope, until: 30n, limit: most })
        expectSame('All', await find(limit), [ids[1], ids[4], ids[0]])
        expectSame('Two', await find(2), [ids[1], ids[4]])
      }),
  },
  {
    name: 'what is settled comes by block, of one grade and between blocks',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const settled = (settledBlock: bigint): Partial<NewOrder> => ({
          ...{ settledBlock, grade: 'included', state: 'captured' },
        })
        const { scope, ids } = await insertNumbered(store, [
          settled(100n),
          settled(9n),
          { ...settled(50n), grade: 'safe' },
          settled(20n),
          settled(101n),
          {},
        ])
        const find = (facts: object) =>
          findIds(store, {
            ...{ settled: scope, grade: 'included', limit, ...facts },
          })
        const all = [ids[1], ids[3], ids[0], ids[4]]
        expectSame('All', await find({}), all)
        expectSame('Two', await find({ limit: 2 }), all.slice(0, 2))
        expectSame('From', await find({ fromBlock: 20n }), all.slice(1))
        expectSame('To', await find({ toBlock: 100n }), all.slice(0, 3))
        const between = { fromBlock: 20n, toBlock: 100n }
        expectSame('Between', await find(between), all.slice(1, 3))
        expectSame('Safe', await find({ grade: 'safe' }), [ids[2]])
        expectSame('Final', await find({ grade: 'finalized' }), [])
      }),
  },
  {
    name: 'what is open comes oldest first, a page after a place',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const payer = drawAddress()
        const { scope, ids } = await insertNumbered(store, [
          { payer, lookDue: 9n },
          { payer },
          { lookDue: 9n },
          { payer, lookDue: 1n },
          { payer, lookDue: 5n },
        ])
        const find = (facts: object) =>
          findIds(store, { open: scope, limit, ...facts })
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
    name: 'the oldest orders come first, whatever became of them',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { scope, ids } = await insertNumbered(store, [
          { state: 'captured', createdAt: 30n },
          { state: 'stored', lookDue: 1n, payer: drawAddress() },
          { createdAt: 10n },
        ])
        await insertNumbered(store, [{}])
        const find = (most: number) =>
          findIds(store, { oldest: scope, limit: most })
        expectSame('All', await find(limit), ids)
        expectSame('One', await find(1), ids.slice(0, 1))
        const none = { oldest: drawScope(), limit }
        expectSame('Of a new one', await findIds(store, none), [])
      }),
  },
  {
    name: 'orders are counted by state',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { scope } = await insertNumbered(store, [
          { state: 'stored' },
          { state: 'captured' },
          { state: 'stored' },
        ])
        const other = await insertNumbered(store, [{ state: 'stored' }])
        const count = (...scopes: Scope[]) =>
          store.read((it) => it.orders.count(scopes))
        expectSame('Of one', await count(scope), { stored: 2, captured: 1 })
        const both = await count(scope, other.scope)
        expectSame('Of two', both, { stored: 3, captured: 1 })
        expectSame('Of one, twice', await count(scope, scope), {
          ...{ stored: 2, captured: 1 },
        })
        expectSame('Of none', await count(), {})
        expectSame('Of a new one', await count(drawScope()), {})
      }),
  },
  {
    name: 'no query leaves the scopes it was given, nor joins their parts anew',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const own = [drawScope(), drawScope({ chainId: 10 })]
        const strange = crossScopes(own)
        for (const scope of [...own, ...strange]) {
          const order = sampleOrder(scope, {
            ...{ payer: drawAddress(), lookDue: 1n },
            ...{ grade: 'safe', settledBlock: 1n },
          })
          await store.write(async (it) => {
            await it.orders.insert([order])
            await it.proofs.insert([sampleProof(scope)])
            await it.events.append([sampleEvent(scope)])
          })
        }
        const pick = (rows: readonly Scope[]) =>
          rows.map(({ chainId, token, recipient }) => ({
            ...{ chainId, token, recipient },
          }))
        const [one, two] = own
        if (!one || !two) return
        const ask = (query: OrderQuery) =>
          store.read(async (it) => pick(await it.orders.find(query)))
        for (const scopes of [[one], [two], own, []]) {
          const { listed, proofs, events, counts } = await store.read(
            async (it) => ({
              listed: await it.orders.find({ listed: scopes, limit }),
              proofs: await it.proofs.find({ scopes, limit }),
              events: await it.events.find({ scopes, after: 0n, limit }),
              counts: await it.orders.count(scopes),
            }),
          )
          expectRows('Listed', pick(listed), scopes)
          expectRows('Proofs', pick(proofs), scopes)
          expectRows('Events', pick(events), scopes)
          expectSame('Counted', counts.drafted ?? 0, scopes.length)
        }
        const look = { lookDue: one, until: 9n, limit }
        expectSame('Due', await ask(look), [one])
        const settled = { settled: one, grade: 'safe', limit } as const
        expectSame('Settled', await ask(settled), [one])
        expectSame('Open', await ask({ open: one, limit }), [one])
        expectSame('Oldest', await ask({ oldest: one, limit }), [one])
      }),
  },
]

/** Every scope made of parts of these, and not one of them. */
function crossScopes(scopes: readonly Scope[]): Scope[] {
  return scopes.flatMap(({ chainId }, a) =>
    scopes.flatMap(({ token }, b) =>
      scopes.flatMap(({ recipient }, c) =>
        a === b && b === c ? [] : { chainId, token, recipient },
      ),
    ),
  )
}

/** Orders of a fresh scope, in the order given. */
async function insertNumbered(
  store: PaymentStore,
  facts: readonly Partial<NewOrder>[],
): Promise<{ scope: Scope; ids: string[] }> {
  const scope = drawScope()
  const rows = facts.map((own) => sampleOrder(scope, own))
  // One unit of work each, so that no batch decides the places.
  for (const row of rows) await store.write((it) => it.orders.insert([row]))
  return { scope, ids: rows.map(({ id }) => id) }
}

async function findIds(
  store: PaymentStore,
  query: OrderQuery,
): Promise<string[]> {
  const found = await store.read(({ orders }) => orders.find(query))
  return found.map(({ id }) => id)
}
