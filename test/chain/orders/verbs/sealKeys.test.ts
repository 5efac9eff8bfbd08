import { startDevChain } from 'countersign/devchain'
import { postgresStore, sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawId } from '../../../storeCases/samples.js'
import { sqliteFile } from '../../support/chaos.js'
import { startDatabase, type TestDatabase } from '../../support/database.js'
import { fundedAccount } from '../../support/desk.js'
import { openShop, pay, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control } = chain.clients
let database: TestDatabase

beforeAll(async () => {
  database = await startDatabase()
})

afterAll(async () => {
  await chain.stop()
  await database.stop()
})

const keyOf = (letter: number) => new Uint8Array(32).fill(letter)
const one = sealer({ keys: { one: keyOf(1) }, current: 'one' })
const two = sealer({ keys: { two: keyOf(2) }, current: 'two' })
const both = sealer({ keys: { one: keyOf(1), two: keyOf(2) }, current: 'two' })

const databases: [string, () => Promise<PaymentStore>][] = [
  ['memory', async () => memoryStore()],
  ['SQLite', async () => sqliteStore({ file: sqliteFile().file })],
  [
    'PostgreSQL',
    async () =>
      postgresStore({ connectionString: await database.create(drawId()) }),
  ],
]

test.each(databases)(
  'in %s, nothing that needs keys starts without a key that secrets need, and the error names it',
  async (_, open) => {
    const store = await open()
    const shop = { store, sellers: [await fundedAccount(chain)] }
    const before = await openShop(chain, { ...shop, seal: one })
    const { id, signed } = await storedOrder(chain, before)
    const { orders } = await openShop(chain, { ...shop, seal: two })
    const refusal = {
      name: 'OrdersSetupError',
      message:
        'Orders need the sealing keys "one" to decrypt stored secrets: give them to sealer as keys, or name them as lost to abandon these secrets.',
      details: { missing: ['one'], secrets: 1 },
      retryable: false,
    }
    const { signal } = new AbortController()
    for (const start of [
      () => orders.draft({ amount: '1' }),
      () => orders.accept({ orderId: id, payment: signed }),
      () => orders.reauthorize({ orderId: id }),
      () => orders.capture({ orderId: id }),
      () => orders.approveCancellation({ orderId: id }),
      () => orders.reseal(),
      () => orders.run({ signal }),
    ])
      await expect(start()).rejects.toMatchObject(refusal)
    // An auditor, who only reads, needs no key.
    expect(await orders.get({ orderId: id })).toMatchObject({ state: 'stored' })
    expect(await orders.health()).toMatchObject({ sealKeys: { one: 1 } })
    expect((await orders.audit()).ok).toBe(true)

    const again = await openShop(chain, { ...shop, seal: both })
    expect(await again.orders.reseal()).toEqual({ resealed: 1, left: 0 })
    expect((await again.orders.health()).sealKeys).toEqual({ two: 1 })
    // The same instance goes on once no secret needs the key.
    expect(await orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
    })
    await store.close()
  },
)

test('orders that were not sealed need to be given up before any are sealed', async () => {
  const shop = { store: memoryStore(), sellers: [await fundedAccount(chain)] }
  const open = await openShop(chain, shop)
  const { id } = await storedOrder(chain, open)
  const { orders } = await openShop(chain, { ...shop, seal: one })
  await expect(orders.draft({ amount: '1' })).rejects.toMatchObject({
    name: 'OrdersSetupError',
    details: { missing: ['none'] },
  })
  const keys = { one: keyOf(1) }
  const seal = sealer({ keys, current: 'one', lost: ['none'] })
  const sealed = await openShop(chain, { ...shop, seal })
  expect(await sealed.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'sealBroken',
  })
})

test('keys of other shops in the same store are not needed', async () => {
  const store = memoryStore()
  const first = await openShop(chain, { store, seal: one })
  await storedOrder(chain, first)
  const second = await openShop(chain, { store, seal: two })
  await storedOrder(chain, second)
  expect((await first.orders.health()).sealKeys).toEqual({ one: 1 })
  expect((await second.orders.health()).sealKeys).toEqual({ two: 1 })
  const none = second.orders.within({ recipients: [] })
  expect((await none.health()).sealKeys).toEqual({})
})

test('orders are captured while their secrets are sealed again', async () => {
  const store = memoryStore()
  const shop = { store, sellers: [await fundedAccount(chain)] }
  const policy = { pollingInterval: 20 }
  const old = await openShop(chain, {
    ...shop,
    policy,
    seal: sealer({ keys: { one: keyOf(1), two: keyOf(2) }, current: 'one' }),
  })
  const buyers = await Promise.all(
    Array.from({ length: 6 }, () => fundedAccount(chain, 12_500_000n)),
  )
  const ids = await Promise.all(
    buyers.map(async (buyer) => {
      const { order, payment } = await old.orders.draft({ amount: '12.50' })
      const signed = await pay(buyer, payment)
      await old.orders.accept({ orderId: order.id, payment: signed })
      return order.id
    }),
  )
  await control.setAutomine(false)
  const captures = ids.map((orderId) => old.orders.capture({ orderId }))
  await expect
    .poll(async () => (await old.orders.health()).submitters, {
      timeout: 60_000,
    })
    .toMatchObject([{ openTransactions: 6 }])
  const { orders } = await openShop(chain, { ...shop, seal: both })
  // Six signatures and the six transactions in flight.
  expect(await orders.reseal()).toEqual({ resealed: 12, left: 0 })
  await control.setAutomine(true)
  await control.mine({ blocks: 1 })
  const results = await Promise.all(captures)
  expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'captured'))
  const { differences } = (await orders.audit()).destinations[0] ?? {}
  expect(differences).toEqual([])
})
