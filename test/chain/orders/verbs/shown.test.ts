import { getPaymentOutcome } from 'countersign'
import { deployDevToken, startDevChain } from 'countersign/devchain'
import type { Observation, Order } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { getBalance, getBlock } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  fakeNode,
  fundedAccount,
  newAccount,
  rpcError,
} from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import {
  eventsOf,
  openShop,
  pay,
  type Shop,
  shows,
  storedOrder,
} from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
const { public: reader } = chain.clients

const idsOf = (orders: readonly Order[]) => orders.map(({ id }) => id)

test('orders are listed page by page, the newest first', async () => {
  const { orders } = await openShop(chain)
  for (const orderId of ['a', 'b', 'c', 'd', 'e'])
    await orders.draft({ orderId, amount: '1' })
  const first = await orders.list({ limit: 2 })
  expect(idsOf(first.orders)).toEqual(['e', 'd'])
  const second = await orders.list({ limit: 2, before: first.cursor })
  expect(idsOf(second.orders)).toEqual(['c', 'b'])
  const last = await orders.list({ limit: 2, before: second.cursor })
  expect(idsOf(last.orders)).toEqual(['a'])
  expect(last.cursor).toBeUndefined()
})

test('what is listed is what is asked for', async () => {
  const token = await deployDevToken(chain)
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const shop = await openShop(chain, { tokens: [token], sellers })
  const [one, two] = sellers.map(({ address }) => address)
  const buyer = newAccount().address
  const draft = (orderId: string, fields: object) =>
    shop.orders.draft({ orderId, amount: '1', ...fields })
  await draft('a', { token, recipient: one })
  await draft('b', { token, recipient: two, payer: buyer })
  await draft('c', { token: chain.token, recipient: one })
  await shop.orders.void({ orderId: 'c' })
  const listed = async (filter: object) =>
    idsOf((await shop.orders.list(filter)).orders)
  expect(await listed({})).toEqual(['c', 'b', 'a'])
  expect(await listed({ token })).toEqual(['b', 'a'])
  expect(await listed({ recipient: one })).toEqual(['c', 'a'])
  expect(await listed({ token, recipient: two })).toEqual(['b'])
  expect(await listed({ payer: buyer })).toEqual(['b'])
  expect(await listed({ states: ['drafted'] })).toEqual(['b', 'a'])
  expect(await listed({ states: ['voided', 'captured'] })).toEqual(['c'])
  expect(await listed({ chainId: 31337 })).toEqual(['c', 'b', 'a'])
  expect(await listed({ chainId: 1 })).toEqual([])
  expect(await listed({ recipient: buyer })).toEqual([])
})

test.each([
  { limit: 0 },
  { limit: 201 },
  { limit: 1.5 },
  { payer: 'me' },
  { token: '0x1' },
])('a list by %o is refused', async (filter) => {
  const { orders } = await openShop(chain)
  await expect(orders.list(filter as never)).rejects.toMatchObject({
    details: { field: Object.keys(filter)[0] },
  })
})

test('events are read once and in order by whoever keeps the cursor', async () => {
  const shop = await openShop(chain)
  const { id } = await storedOrder(chain, shop)
  await shop.orders.void({ orderId: id })
  const first = await shop.orders.events({ limit: 2 })
  expect(first.events.map(({ type, sequence }) => [type, sequence])).toEqual([
    ['drafted', 1],
    ['accepted', 2],
  ])
  const second = await shop.orders.events({ after: first.cursor })
  expect(second.events).toEqual([
    {
      chainId: 31337,
      token: chain.token,
      recipient: shop.seller,
      cursor: second.cursor,
      orderId: id,
      sequence: 3,
      type: 'voided',
      at: expect.any(BigInt),
      data: { spendableUntil: expect.any(String) },
    },
  ])
  const { cursor } = second
  const none = await shop.orders.events({ after: cursor })
  expect(none).toEqual({ events: [], cursor })
  for (const wrong of [{ after: -1n }, { after: 1 }, { limit: 1_001 }])
    await expect(shop.orders.events(wrong as never)).rejects.toMatchObject({
      name: 'InvalidFieldError',
    })
})

test('health shows orders, submitters and how far the chain was read', async () => {
  const shop = await openShop(chain)
  await shop.orders.draft({ amount: '1' })
  await storedOrder(chain, shop)
  const head = await getBlock(reader)
  const destination = {
    chainId: 31337,
    token: chain.token,
    recipient: shop.seller,
    counts: { drafted: 1, stored: 1 },
  }
  const health = await shop.orders.health()
  expect(health).toEqual({
    identity: (await shop.store.open()).identity,
    suspended: false,
    sealKeys: { none: 1 },
    chains: [
      {
        chainId: 31337,
        block: head.number,
        time: head.timestamp,
        fault: undefined,
        faultKind: undefined,
      },
    ],
    destinations: [
      {
        ...destination,
        reconciledTo: undefined,
        lag: undefined,
        atRisk: 0n,
        servedUnpaid: 0n,
        putAside: [],
      },
    ],
    submitters: [
      {
        chainId: 31337,
        account: shop.seller,
        balance: await getBalance(reader, { address: shop.seller }),
        gasPrice: expect.any(BigInt),
        openTransactions: 0,
        feeTooHigh: 0,
        nextDeadline: undefined,
        nextNonce: 0,
        lease: undefined,
        putAside: [],
        fault: undefined,
        faultKind: undefined,
      },
    ],
  })
  await shop.orders.reconcile()
  await chain.clients.test.mine({ blocks: 3 })
  const later = (await shop.orders.health()).destinations[0]
  expect(later).toMatchObject({ ...destination, lag: 3n })
  expect(later?.reconciledTo).toBeGreaterThanOrEqual(head.number)
})

test('health says who works on a submitter, to each instance whether it is that one', async () => {
  const shop = await openShop(chain, { policy: { pollingInterval: 20 } })
  const account = await fundedAccount(chain)
  const own = { store: shop.store, sellers: [account] }
  const [mine, twin] = [await openShop(chain, own), await openShop(chain, own)]
  const leaseOf = async ({ orders }: Shop) =>
    (await orders.health()).submitters[0]?.lease
  const began = BigInt(Date.now())
  const stop = new AbortController()
  const running = mine.orders.run({ signal: stop.signal })
  await expect
    .poll(() => leaseOf(mine), { timeout: 20_000 })
    .toEqual({
      owner: expect.stringMatching(/^[0-9a-f]{32}$/),
      thisInstance: true,
      until: expect.any(BigInt),
    })
  const [seen, told] = [await leaseOf(mine), await leaseOf(twin)]
  expect(told).toMatchObject({ owner: seen?.owner, thisInstance: false })
  expect(seen?.until).toBeGreaterThan(began)
  // Nobody works on the submitter of the other recipient, and no word of this one.
  expect((await shop.orders.health()).submitters).toMatchObject([
    { account: shop.seller, lease: undefined },
  ])
  stop.abort()
  await running
  expect(await leaseOf(twin)).toBeUndefined()
})

test('a node that is down is a fault in the health, and no more', async () => {
  const { client } = fakeNode(chain, async () => {
    throw rpcError(-32000, 'no more')
  })
  const { orders } = await openShop(chain, { client })
  const health = await orders.health()
  expect(health.chains).toEqual([
    {
      chainId: 31337,
      block: undefined,
      time: undefined,
      fault: expect.stringContaining('eth_getBlockByNumber failed: no more'),
      faultKind: 'refused',
    },
  ])
  expect(health.submitters[0]).toMatchObject({
    balance: undefined,
    gasPrice: undefined,
    fault: expect.stringContaining('no more'),
    faultKind: 'refused',
  })
})

test('a node that never answers is a fault in the health, which does', async () => {
  const { client } = fakeNode(chain, () => new Promise(() => {}))
  const { orders } = await openShop(chain, { client })
  const { chains, submitters } = await orders.health()
  const fault = 'no answer in 5 seconds'
  expect(chains).toMatchObject([{ chainId: 31337, fault }])
  expect(submitters).toMatchObject([{ balance: undefined, fault }])
})

test('health is read with one HTTP request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const { orders } = await openShop(chain, { url })
  await orders.health()
  expect(asked).toHaveLength(1)
})

test('a captured order shows its proof, and nothing shows a signature', async () => {
  const seen: Observation[] = []
  const shop = await openShop(chain, {
    observe: (observation) => seen.push(observation),
    policy: { pollingInterval: 20 },
  })
  const { id, signed } = await storedOrder(chain, shop)
  const result = await shop.orders.capture({ orderId: id })
  const outcome = await getPaymentOutcome(reader, { payment: signed })
  if (outcome.status !== 'captured') throw new Error(outcome.status)
  const { proof } = outcome
  const { timestamp } = await getBlock(reader, {
    blockNumber: proof.blockNumber,
  })
  expect(result).toMatchObject({
    status: 'captured',
    proof: {
      ...proof,
      finality: 'included',
      blockTime: timestamp,
      fee: proof.gasUsed * proof.effectiveGasPrice,
    },
  })
  const order = await shop.orders.get({ orderId: id })
  expect(result).toMatchObject({ order })
  expect((await shop.orders.list()).orders).toEqual([order])
  const { events } = await shop.orders.events()
  expect(await eventsOf(shop, id)).toContain('captured')
  const told = [result, order, events, seen, await shop.orders.health()]
  expect(shows(told, signed)).toBe(false)
  await shop.orders.reconcile()
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
  await shop.orders.close()
})

test('a worker captures what is due, and ends when it is told', async () => {
  const shop = await openShop(chain, {
    policy: { pollingInterval: 20, capture: 'onAccept' },
  })
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  const { id } = await storedOrder(chain, shop)
  await expect
    .poll(async () => (await shop.orders.get({ orderId: id })).state, {
      timeout: 20_000,
    })
    .toBe('captured')
  stop.abort()
  await running
  await shop.orders.close()
})

test('in a database put in another’s place nothing is sent until resumed', async () => {
  const { store: kept, ...shop } = await openShop(chain)
  const { id } = await storedOrder(chain, { store: kept, ...shop })
  const restored = { ...kept, open: async () => ({ identity: 'a backup' }) }
  const sellers = [await fundedAccount(chain)]
  const again = await openShop(chain, { store: restored, sellers })
  expect(await again.orders.health()).toMatchObject({
    identity: 'a backup',
    suspended: true,
  })
  expect((await again.orders.events()).events).toMatchObject([
    { type: 'storeReplaced', data: { identity: 'a backup' } },
  ])
  await again.orders.resume()
  expect(await again.orders.health()).toMatchObject({ suspended: false })
  await expect(again.orders.get({ orderId: id })).rejects.toMatchObject({
    name: 'OrderNotFoundError',
  })
})

test('each of those who share a store is told once that it was replaced', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const open = (identity: string) =>
    Promise.all(
      sellers.map((seller) =>
        openShop(chain, {
          store: { ...store, open: async () => ({ identity }) },
          sellers: [seller],
        }),
      ),
    )
  const told = async (identity: string) => {
    const all: string[][] = []
    for (const { orders } of await open(identity)) {
      const { events } = await orders.events()
      all.push(
        events.map((event) =>
          event.type === 'storeReplaced'
            ? `${event.type} ${event.data.identity}`
            : event.type,
        ),
      )
    }
    return all
  }
  expect(await told('a')).toEqual([[], []])
  const replaced = 'storeReplaced b'
  expect(await told('b')).toEqual([[replaced], [replaced]])
  expect(await told('b')).toEqual([[replaced], [replaced]])
})

test('a store that failed to open is opened again by the next verb', async () => {
  const store = memoryStore()
  let opened = 0
  const open = async () => {
    opened++
    if (opened === 1) throw rpcError(1, 'not yet')
    return store.open()
  }
  const { orders } = await openShop(chain, { store: { ...store, open } })
  expect(opened).toBe(0)
  await expect(orders.list()).rejects.toThrow('not yet')
  await Promise.all([orders.list(), orders.list()])
  await orders.list()
  expect(opened).toBe(2)
})

test('who watches is told how each verb went, and can break nothing', async () => {
  const seen: Observation[] = []
  const { orders } = await openShop(chain, {
    observe: (observation) => {
      seen.push(observation)
      throw new Error('broken')
    },
  })
  const { order, payment } = await orders.draft({ amount: '1' })
  const orderId = order.id
  const signed = await pay(newAccount(), payment)
  await orders.accept({ orderId, payment: signed })
  await orders.get({ orderId: 'none' }).catch(() => undefined)
  expect(seen.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['orders.draft', { ok: true }],
    ['orders.accept', { ok: false, reason: 'insufficientFunds' }],
    ['orders.get', { ok: false, error: 'OrderNotFoundError' }],
  ])
  expect(seen.every(({ duration = -1 }) => duration >= 0)).toBe(true)
})
