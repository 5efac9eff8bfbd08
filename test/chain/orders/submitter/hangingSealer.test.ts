import { startDevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { fundedAccount } from '../../support/desk.js'
import { openHangingSealer, orderOf } from '../../support/hangingSealer.js'
import {
  capture,
  captureAll,
  openShop,
  rowsOf,
  type Shop,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'
import { openSqlite } from '../../support/sqliteFiles.js'

const chain = await startDevChain({ blockTime: 0, accounts: 12 })
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const stores: [string, () => PaymentStore][] = [
  ['memory', memoryStore],
  ['SQLite', openSqlite],
]

/** A shop whose sealer can be made to hang. */
async function openHangingShop(store: PaymentStore, sealTimeout = 200) {
  const sealer = openHangingSealer()
  await store.open()
  const shop = openShop(chain, {
    account: await fundedAccount(chain),
    store,
    seal: sealer.seal,
    policy: { sealTimeout },
  })
  return { shop, sealer }
}

const waiting = async ({ context }: Shop) =>
  (await getHealth(context)).submitters[0]?.putAside ?? []

test.each(stores)(
  'in %s, a payment that is never opened holds up no other, is shown, and is captured once it opens',
  async (_, open) => {
    const { shop, sealer } = await openHangingShop(open())
    const [first = '', ...others] = await storeOrders(shop, 4)
    sealer.hang((call, place) => call === 'open' && orderOf(place) === first)
    const hung = capture(shop, first)
    expect(await captureAll(shop, others, 30_000)).toEqual(
      others.map(() => 'captured'),
    )
    await expect
      .poll(() => waiting(shop), patience)
      .toMatchObject([{ what: first, reason: 'SealerUnavailableError' }])
    expect(shop.seen).toContainEqual({
      name: 'submitter.failed',
      attributes: expect.objectContaining({
        orderId: first,
        words: 'The sealer did not answer within 200 ms.',
      }),
    })
    sealer.mend()
    expect((await hung).status).toBe('captured')
    expect(await waiting(shop)).toEqual([])
    expect(await timesPaid(shop, [first, ...others])).toEqual([1, 1, 1, 1])
  },
)

test.each(stores)(
  'in %s, a transaction that is never sealed holds up no other, is shown, and is sent once it is sealed',
  async (_, open) => {
    const { shop, sealer } = await openHangingShop(open())
    const [first = '', ...others] = await storeOrders(shop, 4)
    const { attempts } = await rowsOf(shop, [first])
    const nonce = attempts[0]?.nonce.slice(2) ?? ''
    sealer.hang(
      (call, { kind }, text) =>
        call === 'seal' && kind === 'transaction' && text.includes(nonce),
    )
    const hung = capture(shop, first)
    expect(await captureAll(shop, others, 30_000)).toEqual(
      others.map(() => 'captured'),
    )
    await expect
      .poll(() => waiting(shop), patience)
      .toMatchObject([
        { what: `sign:${first}`, reason: 'SealerUnavailableError' },
      ])
    sealer.mend()
    // What is due later is due by the time of the chain.
    const mining = setInterval(() => chain.warp(60).catch(() => undefined), 200)
    onTestFinished(() => clearInterval(mining))
    expect((await hung).status).toBe('captured')
    expect(await timesPaid(shop, [first, ...others])).toEqual([1, 1, 1, 1])
  },
)

test('an order whose seal takes long is captured although every look waits for less', async () => {
  const sealer = openHangingSealer(2_000)
  const shop = openShop(chain, {
    account: await fundedAccount(chain),
    seal: sealer.seal,
    policy: { sealTimeout: 60_000 },
  })
  const ids = await storeOrders(shop, 3)
  expect(await captureAll(shop, ids)).toEqual(ids.map(() => 'captured'))
})

test('a payment that is being opened keeps no order from being captured at a later look', async () => {
  const { shop, sealer } = await openHangingShop(memoryStore(), 3_600_000)
  const [first = '', ...others] = await storeOrders(shop, 3)
  sealer.hang((call, place) => call === 'open' && orderOf(place) === first)
  // Keeps the submitter driven until the test ends.
  void capture(shop, first, 3_600_000)
  await expect.poll(sealer.hung, patience).toBe(1)
  for (const id of others)
    expect((await capture(shop, id, 60_000)).status).toBe('captured')
  // It is asked only once at a time.
  expect(sealer.hung()).toBe(1)
})

test('many payments that are never opened hold up the one behind them for a few looks', async () => {
  const { shop, sealer } = await openHangingShop(memoryStore(), 3_600_000)
  const ids = await storeOrders(shop, 40)
  const last = ids.at(-1) ?? ''
  sealer.hang((call, place) => call === 'open' && orderOf(place) !== last)
  for (const id of ids.slice(0, -1))
    void capture(shop, id, 1).catch(() => undefined)
  await expect.poll(sealer.hung, patience).toBeGreaterThan(15)
  expect((await capture(shop, last, 60_000)).status).toBe('captured')
  expect(sealer.hung()).toBe(39)
})

test('bytes to send again that are never opened keep no new order from its capture', async () => {
  const { shop, sealer } = await openHangingShop(memoryStore(), 3_600_000)
  await chain.clients.test.setAutomine(false)
  onTestFinished(() => chain.clients.test.setAutomine(true))
  const [first = '', second = ''] = await storeOrders(shop, 2)
  void capture(shop, first, 1).catch(() => undefined)
  const sent = async (id: string) =>
    (await rowsOf(shop, [id])).transactions.length
  await expect.poll(() => sent(first), patience).toBe(1)
  await shop.engine.stop()
  const other = openShop(chain, {
    account: shop.account,
    store: shop.context.store,
    seal: sealer.seal,
    policy: { sealTimeout: 3_600_000 },
  })
  sealer.hang((call, { kind }) => call === 'open' && kind === 'transaction')
  void capture(other, second, 1).catch(() => undefined)
  await expect.poll(() => sent(second), patience).toBe(1)
  await other.engine.stop()
})

test('an engine ends in its time while a seal hangs', async () => {
  const { shop, sealer } = await openHangingShop(memoryStore(), 3_600_000)
  const [id = ''] = await storeOrders(shop, 1)
  sealer.hang(() => true)
  const result = capture(shop, id, 600_000)
  await expect.poll(sealer.hung, patience).toBe(1)
  await shop.engine.stop()
  expect((await result).status).toBe('unknown')
})

test('a sealer that rejects for one order holds up no other', async () => {
  const { shop, sealer } = await openHangingShop(memoryStore())
  const [first = '', second] = await storeOrders(shop, 2)
  const { open } = sealer.seal
  let isBroken = true
  sealer.seal.open = (sealed, place) =>
    isBroken && orderOf(place) === first
      ? Promise.reject(new TypeError(`cannot open ${sealed}`))
      : open(sealed, place)
  const failed = capture(shop, first)
  expect((await capture(shop, second, 30_000)).status).toBe('captured')
  await expect
    .poll(() => waiting(shop), patience)
    .toMatchObject([{ what: first, reason: 'SealerUnavailableError' }])
  const words = shop.seen.map(({ attributes }) => attributes.words).join()
  expect(words).toContain('The sealer failed with a TypeError.')
  expect(words).not.toContain('cannot open')
  isBroken = false
  expect((await failed).status).toBe('captured')
})
