import { cancelPayment, captureCall } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { type Address, isAddressEqual, keccak256, pad, stringToHex } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { moves, orderStates } from '../../../src/orders/model/moves.js'
import { fundedAccount } from '../support/desk.js'
import { eventsOf, openShop, pay, storedOrder } from '../support/shop.js'
import {
  amount,
  balanceOf,
  chain,
  mine,
  mineAt,
  moveFunds,
  node,
  receiptOf,
  relayer,
  stateOf,
  type Wallet,
} from '../support/specChain.js'
import {
  newShop,
  policy,
  revokeOrder,
  transactionsOf,
  workFor,
  workUntil,
} from '../support/specOrders.js'
import { signatureHash } from '../support/specReads.js'

test('orders, capture: the named recipient submits, and the order carries the transaction', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  const result = await shop.orders.capture({ orderId: id })
  if (result.status !== 'captured') throw new Error(result.status)
  const { transactionHash, submitter, logIndex } = result.proof
  const { from, logs } = await receiptOf(transactionHash)
  expect([submitter, from]).toEqual([shop.seller, shop.seller])
  expect(logs.map(({ topics }) => topics[0])).toEqual([
    keccak256(stringToHex('AuthorizationUsed(address,bytes32)')),
    signatureHash,
  ])
  // The one of the transfer.
  expect(logs[1]?.logIndex).toBe(logIndex)
  expect(await stateOf(signed)).toBe(true)
  expect(await balanceOf(shop.seller)).toBe(12_500_000n)
})

test('orders, capture, condition: the current time is inside the window', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop, { window: 60n })

  await mineAt(signed.message.validBefore)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'expired',
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, capture, condition: the payer still has enough balance', async () => {
  const shop = await newShop()
  const { id, buyer } = await storedOrder(chain, shop)
  const wallet = { ...relayer, account: buyer } as Wallet

  await moveFunds(wallet)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'insufficientFunds',
    order: { state: 'stored' },
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test.each([
  ['paused', (_: Address, on: boolean) => chain.pause(on)],
  [
    'payerBlocked',
    (account: Address, blocked: boolean) => chain.block({ account, blocked }),
  ],
])(
  'orders, capture, condition: token policy allows the transfer (%s)',
  async (reason, set) => {
    const shop = await newShop()
    const { id, buyer } = await storedOrder(chain, shop)

    await set(buyer.address, true)
    const refused = await shop.orders.capture({ orderId: id })
    await set(buyer.address, false)
    expect(refused).toMatchObject({ status: 'rejected', reason })
    expect(await shop.orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
    })
  },
)

test('orders, capture: guaranteed only by the successful transaction, not by one on its way', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  await node.setAutomine(false)
  const sent = shop.orders.capture({ orderId: id, timeout: 500 })
  expect(await sent).toMatchObject({
    status: 'unknown',
    order: { state: 'capturing', capture: undefined },
    resolvedBy: 'chain',
    until: signed.message.validBefore,
  })
  await node.setAutomine(true)
  await node.mine({ blocks: 1 })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
})

test('orders, cancel: the payer signs, the merchant relays, and any later capture is refused', async () => {
  const shop = await newShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)

  await shop.orders.acceptCancellation({ orderId: id, cancellation })
  await workUntil(shop, id, 'canceled')
  const { cancellation: shown } = await shop.orders.get({ orderId: id })
  const { from, logs } = await receiptOf(shown?.transactionHash ?? '0x')
  expect(isAddressEqual(from, shop.seller)).toBe(true)
  expect(logs.map(({ topics }) => topics)).toEqual([
    [
      keccak256(stringToHex('AuthorizationCanceled(address,bytes32)')),
      pad(signed.message.from),
      signed.message.nonce,
    ],
  ])
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
  })
  expect(await transactionsOf(shop)).toBe(1)
})

test('orders, cancel, condition: before expiry, without spending gas after it', async () => {
  const shop = await newShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)

  await mineAt(signed.message.validBefore)
  expect(
    await shop.orders.acceptCancellation({ orderId: id, cancellation }),
  ).toMatchObject({ ok: false, reason: 'expired' })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, cancel, condition: signed by the payer, for this nonce', async () => {
  const shop = await newShop()
  const [one, two] = [
    await storedOrder(chain, shop),
    await storedOrder(chain, shop),
  ]
  const cancellation = await revokeOrder(shop, two.id, two.buyer)

  expect(
    await shop.orders.acceptCancellation({ orderId: one.id, cancellation }),
  ).toMatchObject({ ok: false, reason: 'otherPayment' })
  const { signature } = cancellation
  const own = await revokeOrder(shop, one.id, one.buyer)
  expect(
    await shop.orders.acceptCancellation({
      orderId: one.id,
      cancellation: { ...own, signature },
    }),
  ).toMatchObject({ ok: false, reason: 'wrongSigner' })
})

test('orders, void: a voided order is never submitted by us', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const shop = await newShop({
    store,
    sellers,
    policy: { capture: 'onAccept' },
  })
  const twin = await newShop({
    store,
    sellers,
    policy: { capture: 'onAccept' },
  })
  const { id, signed } = await storedOrder(chain, shop)
  const next = await storedOrder(chain, shop)

  expect(await shop.orders.void({ orderId: id })).toMatchObject({ ok: true })
  for (const { orders } of [shop, twin])
    expect(await orders.capture({ orderId: id })).toMatchObject({
      status: 'rejected',
      reason: 'notOpen',
    })
  // Both work on all that is due, and on the voided one up to its end.
  await Promise.all([
    workUntil(shop, next.id, 'captured'),
    workUntil(twin, next.id, 'captured'),
  ])
  await mineAt(signed.message.validBefore + 1n)
  const unpaid = await storedOrder(chain, shop)
  await workUntil(twin, unpaid.id, 'captured')
  expect(await transactionsOf(shop)).toBe(2)
  expect(await stateOf(signed)).toBe(false)
  expect((await shop.orders.get({ orderId: id })).state).toBe('voided')
  expect(await eventsOf(shop, id)).toEqual(['drafted', 'accepted', 'voided'])
})

test('orders, void: no chain call, and the signature stays valid until it expires', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop, {
    primaryType: 'TransferWithAuthorization',
  })

  expect(await shop.orders.void({ orderId: id })).toMatchObject({
    ok: true,
    spendableUntil: signed.message.validBefore,
  })
  expect(await transactionsOf(shop)).toBe(0)
  expect(await mine(relayer, captureCall({ payment: signed }))).toBe('success')
  await shop.orders.reconcile()
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    state: 'captured',
    unexpected: true,
    capture: { submitter: relayer.account.address.toLowerCase() },
  })
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'voided',
    'captured',
    'refundDue',
  ])
})

test('orders, time passes validBefore: expired, unused on chain, no longer capturable', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  await mineAt(signed.message.validBefore)
  await workUntil(shop, id, 'expired')
  expect(await stateOf(signed)).toBe(false)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'expired',
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, events, Transfer: the payer is derived from it where the draft named none', async () => {
  const shop = await newShop()
  const { orders } = shop
  const { order, payment } = await orders.draft({
    amount,
    primaryType: 'TransferWithAuthorization',
  })
  const buyer = await fundedAccount(chain, 12_500_000n)
  const signed = await pay(buyer, payment)

  // Nobody shows it to the shop.
  expect(await mine(relayer, captureCall({ payment: signed }))).toBe('success')
  await orders.reconcile()
  expect(await orders.get({ orderId: order.id })).toMatchObject({
    state: 'captured',
    payer: signed.message.from,
  })
})

test('orders, events, removed: what a reorganization drops is taken back, and captured again', async () => {
  const own = await startDevChain({ blockTime: 0, epochBlocks: 8 })
  onTestFinished(() => own.stop())
  const shop = await openShop(own, { policy })
  const { id } = await storedOrder(own, shop)
  await shop.orders.capture({ orderId: id })
  await own.clients.test.mine({ blocks: 1 })
  await shop.orders.reconcile()

  await own.reorg({ depth: 2, transactions: 'dropped' })
  await workFor(shop, () => eventsOf(shop, id), [
    ...['drafted', 'accepted', 'captureRequested', 'capturing', 'captured'],
    ...['reorged', 'captured'],
  ])
})

test('orders, errors, capture after the nonce was canceled elsewhere: nothing is sent', async () => {
  const shop = await newShop()
  const { id, buyer } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)

  await receiptOf(await cancelPayment(relayer, { cancellation }))
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
    order: { state: 'canceled' },
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, limits: the window is 15 minutes unless asked for otherwise, and no longer than allowed', async () => {
  const shop = await newShop()
  const { order } = await shop.orders.draft({ amount })
  expect(order.validBefore - order.validAfter).toBe(960n)

  await expect(
    shop.orders.draft({ amount, window: 86_401n }),
  ).rejects.toMatchObject({ name: 'InvalidFieldError' })
})

test('orders, transitions (not shown): where an order can go is one table, and only the chain ends it', () => {
  const ends = ['captured', 'canceled', 'consumed']
  const shown = ['capture', 'cancel', 'consumed', 'withdrawn']
  for (const [cause, rows] of Object.entries(moves.sale))
    for (const { to } of rows)
      expect(to.some((state) => ends.includes(state))).toBe(
        shown.includes(cause),
      )
  // A payment on chain is never refused.
  const unpaid = orderStates.filter((state) => state !== 'captured')
  expect(moves.sale.capture?.flatMap(({ from }) => from).sort()).toEqual(
    unpaid.sort(),
  )
})
