import { startDevChain } from 'countersign/devchain'
import { postgresStore } from 'countersign/sql'
import { type PrivateKeyAccount, parseAbiItem } from 'viem'
import { getBlockNumber, getLogs } from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import {
  type DatabasePair,
  startPair,
} from '../../chain/support/databasePair.js'
import { countOf, fundedAccount } from '../../chain/support/desk.js'
import { balanceOf } from '../../chain/support/settle.js'
import { openShop, pay, type Shop } from '../../chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0.5 })
afterAll(() => chain.stop())
const buyer = await fundedAccount(chain, 10n ** 15n)

const value = 12_500_000n
const transfer = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

const replaced = {
  name: 'StoreError',
  message:
    'The store lost its database, and another one is in its place, as after a restore: restart the process.',
  retryable: false,
}

const patience = { timeout: 300_000 }

async function openPair(
  ...parameters: Parameters<typeof startPair>
): Promise<DatabasePair> {
  const pair = await startPair(...parameters)
  onTestFinished(() => pair.stop())
  return pair
}

/** One process of the seller's: `end` ends its worker, and closes the store. */
async function startProcess(
  { url }: DatabasePair,
  seller: PrivateKeyAccount,
  capture: 'manual' | 'onAccept',
  standbys?: 'synchronous',
) {
  const store = postgresStore({ connectionString: url, listen: url, standbys })
  const shop = await openShop(chain, {
    store,
    sellers: [seller],
    policy: { capture, lease: 1_500, pollingInterval: 100 },
  })
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal }).then(
    () => undefined,
    (error: unknown) => error,
  )
  const end = async () => {
    stop.abort()
    await running
    await shop.orders.close()
  }
  let ended: Promise<void> | undefined
  const endOnce = () => {
    ended ??= end()
    return ended
  }
  onTestFinished(endOnce)
  return { ...shop, running, end: endOnce }
}

/** One order, paid; who gets a doubtful answer asks again. */
async function sell({ orders }: Shop): Promise<string> {
  const { order, payment } = await orders.draft({ amount: '12.50' })
  const orderId = order.id
  const accepted = { orderId, payment: await pay(buyer, payment) }
  const verdict = await orders
    .accept(accepted)
    .catch((error) =>
      error.retryable ? orders.accept(accepted) : Promise.reject(error),
    )
  expect(verdict).toMatchObject({ ok: true })
  return orderId
}

/** Sells until the process has to be restarted, and reports why. */
async function sellOn(shop: Shop, sold: string[]): Promise<unknown> {
  for (;;)
    try {
      sold.push(await sell(shop))
      await wait(50)
    } catch (error) {
      if (!Object(error).retryable) return error
    }
}

const wait = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

async function statesOf({ orders }: Shop, ids: readonly string[]) {
  const asked = ids.map((orderId) => orders.get({ orderId }))
  return (await Promise.all(asked)).map(({ state }) => state)
}

/** How many payments reached the seller. */
async function countPaid({ seller }: Shop): Promise<number> {
  const logs = await getLogs(chain.clients.public, {
    address: chain.token,
    event: transfer,
    args: { to: seller },
    fromBlock: 0n,
  })
  const all = value * BigInt(logs.length)
  expect(await balanceOf(chain, chain.token, seller)).toBe(all)
  return logs.length
}

/** For some blocks. */
async function expectNothingSent(account: PrivateKeyAccount): Promise<void> {
  const { public: reader } = chain.clients
  const sent = await countOf(chain, account)
  const block = await getBlockNumber(reader, { cacheTime: 0 })
  await expect
    .poll(() => getBlockNumber(reader, { cacheTime: 0 }), patience)
    .toBeGreaterThan(block + 3n)
  expect(await countOf(chain, account)).toBe(sent)
}

test('a failover to a standby that confirms each write loses no order, and captures each once', async () => {
  const pair = await openPair({ synchronous: true })
  const seller = await fundedAccount(chain)
  const before = await startProcess(pair, seller, 'onAccept')
  const sold: string[] = []
  const selling = [1, 2, 3, 4].map(() => sellOn(before, sold))
  await expect.poll(() => countPaid(before), patience).toBeGreaterThan(20)
  await pair.failOver()
  for (const end of await Promise.all(selling))
    expect(end).toMatchObject(replaced)
  expect(await before.running).toMatchObject(replaced)
  await before.end()

  const after = await startProcess(pair, seller, 'onAccept')
  expect(await after.orders.health()).toMatchObject({ suspended: true })
  await expectNothingSent(seller)
  await after.orders.resume()
  await expect
    .poll(async () => new Set(await statesOf(after, sold)), patience)
    .toEqual(new Set(['captured']))
  const { submitters, destinations } = await after.orders.health()
  expect(submitters).toMatchObject([{ lease: { thisInstance: true } }])
  const { captured } = destinations[0]?.counts ?? {}
  expect(captured).toBeGreaterThanOrEqual(sold.length)
  expect(captured).toBe(await countPaid(after))
  expect(await after.orders.audit()).toMatchObject({ ok: true })
})

test('a process that was promised standbys which lack nothing goes on by itself', async () => {
  const pair = await openPair({ synchronous: true })
  const seller = await fundedAccount(chain)
  const shop = await startProcess(pair, seller, 'onAccept', 'synchronous')
  const sold = [await sell(shop)]
  await pair.failOver()
  while (sold.length < 5)
    await sell(shop).then(
      (id) => sold.push(id),
      (error) => expect(error).toMatchObject({ retryable: true }),
    )
  await expect
    .poll(async () => new Set(await statesOf(shop, sold)), patience)
    .toEqual(new Set(['captured']))
  expect(await shop.orders.health()).toMatchObject({ suspended: false })
  const told = await shop.orders.events({ limit: 1_000 })
  expect(told.events.map(({ type }) => type)).not.toContain('storeReplaced')
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
})

test('after a failover to a standby that lacks the newest, nothing is sent before resume, and nothing twice', async () => {
  const pair = await openPair({ synchronous: false })
  const seller = await fundedAccount(chain)
  const before = await startProcess(pair, seller, 'manual')
  const capture = (shop: Shop, orderId = '', timeout = 300_000) =>
    shop.orders.capture({ orderId, timeout })
  const [first = '', ...kept] = await Promise.all(
    [1, 2, 3].map(() => sell(before)),
  )
  await pair.detach()
  const lost = await Promise.all([1, 2].map(() => sell(before)))
  const early = [first, lost[0]].map((id) => capture(before, id))
  expect(await Promise.all(early)).toMatchObject([
    { status: 'captured' },
    { status: 'captured' },
  ])
  const read = await before.orders.events({ limit: 1_000 })
  await pair.failOver()
  await expect(capture(before, kept[0])).rejects.toMatchObject(replaced)
  await expect(before.orders.health()).rejects.toMatchObject(replaced)
  expect(await before.running).toMatchObject(replaced)
  await before.end()

  const after = await startProcess(pair, seller, 'manual')
  for (const orderId of lost)
    await expect(after.orders.get({ orderId })).rejects.toMatchObject({
      name: 'OrderNotFoundError',
    })
  const late = kept.map((id) => capture(after, id))
  await expectNothingSent(seller)
  await expect
    .poll(() => statesOf(after, [first, ...kept]), patience)
    .toEqual(['captured', 'stored', 'stored'])
  // Whoever kept a cursor of what was lost skips nothing either.
  const { events } = await after.orders.events({ after: read.cursor })
  const told = events.map(({ type }) => type)
  expect(told).toEqual(
    expect.arrayContaining(['storeReplaced', 'captured', 'unmatched']),
  )
  expect(await after.orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: 1 }, unmatched: { count: 1 } }],
  })
  await after.orders.resume()
  expect(await Promise.all(late)).toMatchObject([
    { status: 'captured' },
    { status: 'captured' },
  ])
  // The one that was lost after its capture among them, the other never.
  expect(await countPaid(after)).toBe(4)
})
