import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { runWorker } from '../../../src/orders/runWorker.js'
import { memoryStore } from '../../../src/store/memoryStore.js'
import type { PaymentStore } from '../../../src/store/types.js'
import { draft, fundedAccount } from '../support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrder,
  storeOrders,
  timesPaid,
} from '../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const newShop = async (parameters: Partial<ShopParameters> = {}) =>
  openShop(chain, { account: await fundedAccount(chain), ...parameters })

/** Runs a worker until the work is done, and then stops it. */
async function runDuring(
  { context, engine }: Shop,
  work: () => Promise<unknown>,
): Promise<void> {
  const stop = new AbortController()
  const run = runWorker(context, engine, { signal: stop.signal })
  try {
    await work()
  } finally {
    stop.abort()
    await run
  }
}

const stateOf = async (shop: Shop, id: string) =>
  (await rowsOf(shop, [id])).orders[0]?.state

test('a worker captures what is due, and nothing else', async () => {
  const shop = await newShop()
  const to = shop.account.address
  const due = await storeOrder(shop, await draft(chain, { to }), {
    requested: 'capture',
    sendDue: 0n,
  })
  const other = await storeOrder(shop, await draft(chain, { to }))
  await runDuring(shop, () =>
    expect.poll(() => stateOf(shop, due)).toBe('captured'),
  )
  expect(await stateOf(shop, other)).toBe('stored')
  expect(await timesPaid(shop, [due, other])).toEqual([1, 0])
})

test('what is due later in chain time is sent then', async () => {
  const shop = await newShop({ policy: { capture: 'beforeDeadline' } })
  const { timestamp } = await chain.clients.public.getBlock()
  const payment = await draft(chain, { to: shop.account.address })
  const id = await storeOrder(shop, payment, { sendDue: timestamp + 100n })
  await runDuring(shop, async () => {
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await stateOf(shop, id)).toBe('stored')
    await chain.warp(101)
    await expect.poll(() => stateOf(shop, id)).toBe('captured')
  })
})

test('what a policy wants is tried again after a refusal, told once', async () => {
  const shop = await newShop({ policy: { capture: 'onAccept' } })
  const signer = await fundedAccount(chain)
  const to = shop.account.address
  const payment = await draft(chain, { to, signer })
  const id = await storeOrder(shop, payment, { sendDue: 0n })
  await runDuring(shop, async () => {
    await expect
      .poll(async () => (await rowsOf(shop, [id])).orders[0]?.reason)
      .toBe('insufficientFunds')
    await chain.warp(31)
    await chain.mint({ to: signer.address, value: 12_500_000n })
    await chain.warp(31)
    await expect.poll(() => stateOf(shop, id)).toBe('captured')
  })
  const { events } = await rowsOf(shop, [id])
  expect(events.filter(({ type }) => type === 'captureRejected')).toHaveLength(
    1,
  )
})

test('a worker that is stopped leaves its submitters to others at once', async () => {
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const policy = { lease: 60_000 }
  const one = openShop(chain, { account, store, policy })
  const [first = '', second] = await storeOrders(one, 2)
  await runDuring(one, async () => {
    expect(await capture(one, first)).toMatchObject({ status: 'captured' })
  })
  const other = openShop(chain, { account, store, policy })
  expect(await capture(other, second, 3000)).toMatchObject({
    status: 'captured',
  })
})

test('a node and a store that fail are tried again, and seen to fail', async () => {
  // Each part of a look reads by itself, and so does each submitter.
  let failures = 12
  const kept = memoryStore()
  const store: PaymentStore = {
    ...kept,
    read: (work) =>
      failures-- > 0
        ? Promise.reject(new Error('the disk is gone'))
        : kept.read(work),
  }
  const shop = await newShop({ store })
  const payment = await draft(chain, { to: shop.account.address })
  const fields = { requested: 'capture', sendDue: 0n } as const
  const id = await storeOrder(shop, payment, fields)
  await runDuring(shop, () =>
    expect.poll(() => stateOf(shop, id)).toBe('captured'),
  )
  expect(shop.seen.map(({ name }) => name)).toContain('submitter.failed')
  // What is not ours may quote anything.
  expect(
    JSON.stringify(shop.seen.map(({ attributes }) => attributes)),
  ).not.toContain('disk')
})

test('a worker that never was to run ends at once', async () => {
  const shop = await newShop()
  const signal = AbortSignal.abort()
  await runWorker(shop.context, shop.engine, { signal })
  expect(shop.seen).toEqual([])
})
