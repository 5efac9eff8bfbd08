import { capturePayment } from 'countersign'
import { checkout } from 'countersign/checkout'
import { createOrders, type Orders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { createWalletClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  type CeilingShop,
  openCeilingShop,
  startCeilingChain,
  storedCeiling,
} from '../../support/ceilingShop.js'
import { fundedAccount, mined } from '../../support/desk.js'
import { balanceOf } from '../../support/refundDesk.js'
import { eventsOf, pay } from '../../support/shop.js'
import { sign } from '../../support/signing.js'
import { mineBlocks, watcherOf } from '../../support/watching.js'

const chain = await startCeilingChain({ epochBlocks: 50 })
afterAll(() => chain.stop())

const policy = { fulfilAt: 'included' } as const

const stateOf = async ({ orders }: { orders: Orders }, orderId: string) =>
  (await orders.get({ orderId })).state

/** The shop again, as another process opens it. */
function reopen(
  { parameters }: CeilingShop,
  changes: Partial<Parameters<typeof createOrders>[0]> = {},
): Orders {
  return createOrders({ ...parameters, ...changes })
}

const lookerOf = ({ orders }: { orders: Orders }) =>
  watcherOf(contextOf(orders).context)

/** Captures past the shop, with the operator's own wallet. */
async function captureElsewhere(
  { parameters }: CeilingShop,
  stored: Awaited<ReturnType<typeof storedCeiling>>,
  amount: string,
) {
  const { payer, payment } = stored
  const [own] = parameters.wallets
  const account = own && 'account' in own ? own.account : undefined
  if (!account) throw new Error('no wallet')
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  const signed = { ...payment, signature: await sign(payer, payment) }
  const capture = { payment: signed, kind: checkout, amount }
  await mined(chain, capturePayment(wallet, capture))
}

test('a reorganization puts a captured ceiling back, and the same amount is captured again', async () => {
  const shop = await openCeilingShop(chain, { policy })
  const { id } = await storedCeiling(chain, shop)
  const look = lookerOf(shop)
  await look()
  await shop.orders.capture({ orderId: id, amount: '42.10' })
  await look()
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  await mineBlocks(chain, 2)
  await look()
  expect(await stateOf(shop, id)).toBe('capturing')
  expect(await shop.orders.capture({ orderId: id, amount: '1' })).toMatchObject(
    { status: 'rejected', reason: 'otherAmount' },
  )
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
    order: { amount: '42.1' },
  })
  expect(await balanceOf(chain, shop.seller)).toBe(42_100_000n)
})

test('a capture that the record lacks is found with its amount, which stays', async () => {
  const shop = await openCeilingShop(chain)
  const stored = await storedCeiling(chain, shop)
  await captureElsewhere(shop, stored, '12.34')

  expect(await shop.orders.reconcile()).toMatchObject({
    destinations: [{ captured: 1, unmatched: 0 }],
  })
  const { orders } = shop
  const order = await orders.get({ orderId: stored.id })
  expect(order).toMatchObject({ state: 'captured', amount: '12.34' })
  expect(
    await orders.capture({ orderId: stored.id, amount: '50' }),
  ).toMatchObject({ status: 'rejected', reason: 'otherAmount' })
  expect(await orders.audit()).toMatchObject({ ok: true })
})

test('a capture with an amount finds what was captured elsewhere, and pays nothing more', async () => {
  const shop = await openCeilingShop(chain)
  const stored = await storedCeiling(chain, shop)
  await captureElsewhere(shop, stored, '5')
  const result = await shop.orders.capture({
    orderId: stored.id,
    amount: '6',
  })
  expect(result).toMatchObject({ status: 'captured', order: { amount: '5' } })
  expect(await balanceOf(chain, shop.seller)).toBe(5_000_000n)
})

test('a nonce that the payer spends elsewhere is an alarm, and not a payment', async () => {
  const shop = await openCeilingShop(chain)
  const { id, payer, payment } = await storedCeiling(chain, shop)
  const { merchant } = chain.clients
  const message = { ...payment.message, to: merchant.account.address }
  const { domain, primaryType } = payment
  const other = { domain, primaryType, message }
  const signed = { ...other, signature: await sign(payer, other) }
  await mined(chain, capturePayment(merchant, { payment: signed }))
  await lookerOf(shop)()
  expect(await stateOf(shop, id)).toBe('consumed')
})

test('a ceiling that nobody captures expires', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop, { window: 30n })
  await chain.clients.test.increaseTime({ seconds: 40 })
  await mineBlocks(chain, 1)
  await lookerOf(shop)()
  expect(await stateOf(shop, id)).toBe('expired')
})

test('two processes with one amount capture it once', async () => {
  const shop = await openCeilingShop(chain, { store: memoryStore() })
  const { id } = await storedCeiling(chain, shop)
  const all = [shop.orders, reopen(shop)]
  const results = await Promise.all(
    all.map((orders) => orders.capture({ orderId: id, amount: '9' })),
  )
  expect(results.map(({ status }) => status)).toEqual(['captured', 'captured'])
  expect(await balanceOf(chain, shop.seller)).toBe(9_000_000n)
})

test('an amount on record before its process ends is captured by the next one', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop)
  const named = await shop.orders.capture({
    orderId: id,
    amount: '8',
    timeout: 0,
  })
  expect(named).toMatchObject({ order: { amount: '8' } })
  const later = reopen(shop)
  expect(await later.capture({ orderId: id, amount: '7' })).toMatchObject({
    status: 'rejected',
    reason: 'otherAmount',
  })
  expect(await later.capture({ orderId: id })).toMatchObject({
    status: 'captured',
    order: { amount: '8' },
  })
  expect(await eventsOf(shop, id)).toContain('captured')
})

test('a process without the kind of an order puts it aside by name, and captures the others', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop)
  await shop.orders.close()
  const failures: unknown[] = []
  const bare = reopen(shop, {
    kinds: [],
    observe: ({ name, attributes }) => {
      if (name === 'submitter.failed') failures.push(attributes)
    },
  })
  const waiting = bare.capture({ orderId: id, amount: '3', timeout: 4_000 })
  const buyer = await fundedAccount(chain, 1_000_000n)
  const { order, payment } = await bare.draft({ amount: '1' })
  const signed = await pay(buyer, payment)
  await bare.accept({ orderId: order.id, payment: signed })
  expect(await bare.capture({ orderId: order.id })).toMatchObject({
    status: 'captured',
  })
  expect(await waiting).toMatchObject({ status: 'unknown' })
  expect(failures).toContainEqual(
    expect.objectContaining({ error: 'OrdersSetupError' }),
  )
  await lookerOf({ orders: bare })()
  expect(await stateOf({ orders: bare }, id)).toBe('stored')

  expect(await reopen(shop).capture({ orderId: id })).toMatchObject({
    status: 'captured',
    order: { amount: '3' },
  })
})
