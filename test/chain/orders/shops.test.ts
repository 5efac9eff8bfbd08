import { checkout } from 'countersign/checkout'
import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { Address } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { drawAddress } from '../../storeCases/samples.js'
import { sqliteFile } from '../support/chaos.js'
import { fundedAccount, newAccount } from '../support/desk.js'
import { openShop, storedOrder } from '../support/shop.js'
import { mineBlocks } from '../support/watching.js'
import { watchStatements } from '../support/watchStatements.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
afterAll(() => chain.stop())

const patience = { timeout: 60_000 }
const policy = {
  fulfilAt: 'included',
  capture: 'onAccept',
  pollingInterval: 40,
} as const

/** One process of a shop that sends with a wallet of its own. */
async function openProcess(
  shop: string | undefined,
  store: PaymentStore,
  changes: Omit<NonNullable<Parameters<typeof openShop>[1]>, 'store'> = {},
): Promise<Orders> {
  const opened = await openShop(chain, { shop, store, policy, ...changes })
  return opened.orders
}

/** Runs workers until the test is over. */
function runAll(...all: readonly Orders[]): void {
  const stop = new AbortController()
  const running = all.map((orders) => orders.run({ signal: stop.signal }))
  onTestFinished(async () => {
    stop.abort()
    await Promise.all(running)
  })
}

const sell = async (orders: Orders, recipient: Address): Promise<string> => {
  const draft = { recipient, primaryType: 'TransferWithAuthorization' } as const
  const shop = { orders, store: memoryStore(), seller: recipient }
  return (await storedOrder(chain, shop, draft)).id
}

const typesOf = async (orders: Orders, id: string): Promise<string[]> => {
  const { events } = await orders.events({ limit: 1_000 })
  return events.flatMap(({ orderId, type }) => (orderId === id ? [type] : []))
}

const whole = ['drafted', 'stored', 'captured', 'fulfil']

const expectFulfilled = (orders: Orders, id: string) =>
  expect
    .poll(async () => {
      await mineBlocks(chain, 1)
      const types = await typesOf(orders, id)
      return whole.filter((type) => types.includes(type))
    }, patience)
    .toContain('fulfil')

test('two shops over one store, each with two workers, fulfil their own orders and see no others', async () => {
  const store = memoryStore()
  const open = async (shop: string) => {
    const sellers = [await fundedAccount(chain)]
    const recipient = drawAddress()
    const processes = [
      await openProcess(shop, store, { sellers, recipients: [recipient] }),
      await openProcess(shop, store, { sellers, recipients: [recipient] }),
    ]
    return { processes, recipient }
  }
  const shops = [await open('one'), await open('two')]
  runAll(...shops.flatMap(({ processes }) => processes))
  for (const { processes, recipient } of shops) {
    const [here, there] = processes
    if (!here || !there) throw new Error('two processes')
    const id = await sell(here, recipient)
    await expectFulfilled(there, id)
    for (const other of shops.filter((one) => one.recipient !== recipient))
      for (const orders of other.processes)
        await expect(orders.get({ orderId: id })).rejects.toMatchObject({
          name: 'OrderNotFoundError',
        })
  }
})

test('a recipient that one process adds is served by all workers, and is removed for all', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const [first, second] = [
    await openProcess('shop', store, { sellers }),
    await openProcess('shop', store, { sellers }),
  ]
  runAll(first, second)
  const seller = drawAddress()
  await expect(sell(second, seller)).rejects.toMatchObject({
    details: { field: 'recipient' },
  })
  const own = second.within({ recipients: [seller] })
  await first.changeRecipients({ add: [seller, seller] })
  const id = await sell(second, seller)
  expect(await own.get({ orderId: id })).toMatchObject({ recipient: seller })
  await expectFulfilled(first, id)
  const drafted = await second.draft({
    amount: '1',
    recipient: seller,
    primaryType: 'TransferWithAuthorization',
  })
  const open = await sell(first, seller)
  await second.changeRecipients({ remove: [seller] })
  for (const orders of [first, second])
    await expect(sell(orders, seller)).rejects.toThrow(
      `recipient must be a recipient that was not removed, not "${seller}". To sell for it again, add it with changeRecipients.`,
    )
  await expectFulfilled(second, open)
  expect(await first.get({ orderId: drafted.order.id })).toMatchObject({
    state: 'drafted',
  })
  await first.changeRecipients({ add: [seller] })
  await expectFulfilled(first, await sell(second, seller))
})

test('a process that starts later has the recipients of its shop, and a configuration brings back none that was removed', async () => {
  const { store } = sqliteFile()
  const sellers = [await fundedAccount(chain)]
  const [named, added] = [drawAddress(), drawAddress()]
  const first = await openProcess('shop', store, {
    sellers,
    recipients: [named],
  })
  await first.changeRecipients({ add: [added], remove: [named] })
  const later = await openProcess('shop', store, {
    sellers,
    recipients: [named],
  })
  const { destinations } = await later.health()
  expect(destinations.map(({ recipient }) => recipient).sort()).toEqual(
    [named, added, sellers[0]?.address.toLowerCase()].sort(),
  )
  await expect(sell(later, named)).rejects.toThrow('not removed')
  expect((await later.get({ orderId: await sell(later, added) })).state).toBe(
    'stored',
  )
})

test('a recipient belongs to one shop, and a wallet may send for two', async () => {
  const store = memoryStore()
  const relayer = await fundedAccount(chain)
  const sellers = [relayer]
  const [mine, yours] = [drawAddress(), drawAddress()]
  const one = await openProcess('one', store, { sellers, recipients: [mine] })
  await one.list()
  const wrong = await openProcess('two', store, { recipients: [mine] })
  await expect(wrong.list()).rejects.toMatchObject({
    name: 'OrdersSetupError',
    message: `Orders cannot take payments to ${mine} on chain 31337 for shop "two": it belongs to shop "one". Use another account, pass shop: 'one', or give each shop a database schema.`,
    details: { recipient: mine, shop: 'one' },
  })
  const unnamed = await openProcess(undefined, store, { recipients: [mine] })
  await expect(unnamed.list()).rejects.toThrow('orders without a shop')
  const two = await openProcess('two', store, { sellers, recipients: [yours] })
  await expect(two.changeRecipients({ add: [mine] })).rejects.toThrow(
    'it belongs to shop "one"',
  )
  runAll(one, two)
  await expectFulfilled(two, await sell(two, yours))
  await expectFulfilled(one, await sell(one, mine))
  const health = await two.health()
  expect(health.submitters.map(({ account }) => account)).toEqual([
    relayer.address.toLowerCase(),
  ])
  expect(health.destinations.map(({ recipient }) => recipient)).toEqual([yours])
})

test('a removed recipient without orders may go to another shop, one with orders stays', async () => {
  const store = memoryStore()
  const [mistaken, seller] = [drawAddress(), drawAddress()]
  const one = await openProcess('one', store)
  const two = await openProcess('two', store)
  await one.changeRecipients({ add: [mistaken, seller] })
  const id = await sell(one, seller)
  await one.changeRecipients({ remove: [mistaken, seller] })
  await two.changeRecipients({ add: [mistaken] })
  await expect(two.changeRecipients({ add: [seller] })).rejects.toThrow(
    'it belongs to shop "one"',
  )
  const moved = await sell(two, mistaken)
  await expect(one.get({ orderId: moved })).rejects.toMatchObject({
    name: 'OrderNotFoundError',
  })
  expect((await one.get({ orderId: id })).recipient).toBe(seller)
})

test('what a change of recipients cannot do is said with the field and what to do', async () => {
  const store = memoryStore()
  const orders = await openProcess('shop', store)
  const [one, two] = [drawAddress(), drawAddress()]
  await orders.changeRecipients({ add: [one] })
  const fails = async (given: unknown, words: string) =>
    expect(orders.changeRecipients(given as never)).rejects.toThrow(words)
  await fails({}, 'add must be a list with at least one address')
  await fails({ add: [], remove: [] }, 'add must be a list with at least one')
  await fails({ add: one }, 'add must be a list of addresses')
  await fails({ add: [one, '0x1'] }, 'add[1] must be')
  await fails({ remove: [7] }, 'remove[0] must be')
  await fails(
    { add: [two], remove: [two] },
    'remove must be a list without the',
  )
  await fails({ remove: [two] }, 'remove must be addresses of recipients of')
  await fails({ add: [two], chainId: 1 }, 'chainId')
  await orders.changeRecipients({ remove: [one] })
  await orders.changeRecipients({ remove: [one] })
  const unnamed = await openProcess(undefined, memoryStore())
  await expect(unnamed.changeRecipients({ add: [one] })).rejects.toThrow(
    'Orders have no shop in the store: give createOrders a shop',
  )
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const alone = await openProcess('alone', memoryStore(), { sellers })
  await expect(alone.changeRecipients({ add: [one] })).rejects.toThrow(
    `Orders need a wallet that sends payments to ${one}`,
  )
  for (const shop of ['', '1', 'a:b', 'x'.repeat(64), 7])
    await expect(openProcess(shop as string, store)).rejects.toThrow(
      'shop must be a letter, then up to 62 letters, digits and hyphens',
    )
})

test('the policy of a shop is that of its newest start, for all its workers', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const { fulfilAt, ...others } = policy
  const first = await openProcess('shop', store, {
    sellers,
    policy: { ...policy, fulfilAt: 'finalized' },
  })
  runAll(first)
  const seller = sellers[0]?.address ?? newAccount().address
  const id = await sell(first, seller)
  await expect.poll(() => typesOf(first, id), patience).toContain('captured')
  expect(await typesOf(first, id)).not.toContain('fulfil')
  await (await openProcess('shop', store, { sellers, policy: others })).list()
  expect(await typesOf(first, id)).not.toContain('fulfil')
  await (await openProcess('shop', store, { sellers, policy })).list()
  await expect.poll(() => typesOf(first, id), patience).toContain('fulfil')
  expect(fulfilAt).toBe('included')
})

test('a process without a kind of its shop does not run, and does everything else', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const kinds = [checkout]
  await (await openProcess('shop', store, { sellers, kinds })).list()
  const without = await openProcess('shop', store, { sellers })
  const run = () => without.run({ signal: AbortSignal.timeout(10_000) })
  await expect(run()).rejects.toMatchObject({
    name: 'OrdersSetupError',
    details: { kind: 'checkout', shop: 'shop' },
  })
  await without.draft({ amount: '1' })
  await (await openProcess('shop', store, { sellers, kinds: [] })).list()
  await without.list()
  const stop = new AbortController()
  const running = without.run({ signal: stop.signal })
  stop.abort()
  await running
})

/** Counts the statements of a first start, and of the next one. */
async function countStatements(shop: string | undefined, recipients: number) {
  const { store } = sqliteFile()
  let ran = 0
  const stopCounting = watchStatements(() => ran++)
  const counts: number[] = []
  const given = Array.from({ length: recipients }, () => drawAddress())
  while (counts.length < 2) {
    ran = 0
    const orders = await openProcess(shop, store, { recipients: given })
    await orders.suspend()
    counts.push(ran)
  }
  stopCounting()
  return counts
}

/** A handful: SQLite may open another connection at any time. */
const few = 10

test.each([
  ['without a name', undefined],
  ['with a name', 'shop'],
])(
  'a shop %s with 10,000 recipients starts with few statements more than with one, at first and later',
  async (_, shop) => {
    const [first = 0, next = 0] = await countStatements(shop, 1)
    const [manyFirst = 0, manyNext = 0] = await countStatements(shop, 10_000)
    expect(manyFirst - first).toBeLessThan(few)
    expect(manyNext - next).toBeLessThan(few)
  },
)
