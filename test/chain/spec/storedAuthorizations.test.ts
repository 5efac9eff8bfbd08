import type { SignedPayment } from 'countersign'
import { sealer } from 'countersign/store'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { eventsOf, pay, rowsOf, shows, storedOrder } from '../support/shop.js'
import {
  amount,
  balanceOf,
  chain,
  nonce,
  now,
  stateOf,
} from '../support/specChain.js'
import {
  newShop,
  revokeOrder,
  transactionsOf,
  workUntil,
} from '../support/specOrders.js'

test('stored authorization: the order, the message and the signature are kept under their draft', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  const { order, attempts } = await rowsOf(shop, id)
  const { from, to, value, ...window } = signed.message
  expect(attempts).toMatchObject([
    {
      orderId: id,
      payer: from,
      nonce: window.nonce,
      value,
      signedAfter: window.validAfter,
      signedBefore: window.validBefore,
      // This shop keeps it in the open, in so many words.
      signature: `none ${signed.signature}`,
    },
  ])
  expect(order).toMatchObject({ id, recipient: to, payer: from, value })
})

test('stored authorization: it is kept server-side, for whichever process captures', async () => {
  const sellers = [await fundedAccount(chain)]
  const shop = await newShop({ sellers })
  const { id, signed } = await storedOrder(chain, shop)

  const other = await newShop({ sellers, store: shop.store })
  expect(await other.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
  expect(await stateOf(signed)).toBe(true)
})

test('stored authorization: protected like a payment credential, sealed and shown by nothing', async () => {
  const keys = { test: crypto.getRandomValues(new Uint8Array(32)) }
  const shop = await newShop({ seal: sealer({ keys, current: 'test' }) })
  const { id, signed } = await storedOrder(chain, shop)
  const { orders } = shop

  await orders.capture({ orderId: id })
  const told = await Promise.all([
    orders.get({ orderId: id }),
    orders.list({}),
    orders.events({}),
    orders.health(),
    rowsOf(shop, id),
  ])
  expect(told.map((one) => shows(one, signed))).toEqual(told.map(() => false))
})

test('stored authorization, replay key: a payment is stored for one order alone', async () => {
  const shop = await newShop()
  const { signed } = await storedOrder(chain, shop)
  const { order } = await shop.orders.draft({ amount })

  expect(
    await shop.orders.accept({ orderId: order.id, payment: signed }),
  ).toMatchObject({ ok: false, reason: 'wrongNonce' })
})

test('stored authorization, replay key: the store holds a payer and a nonce once', async () => {
  const shop = await newShop()
  const { id } = await storedOrder(chain, shop)
  const { attempts } = await rowsOf(shop, id)
  const { order } = await shop.orders.draft({ amount })
  const [first] = attempts
  if (!first) throw new Error('no attempt')

  const again = { ...first, orderId: order.id, number: 2 }
  await expect(
    shop.store.write((tables) => tables.attempts.insert([again])),
  ).rejects.toMatchObject({ name: 'DuplicateRecordError' })
})

test('orders, labels: drafted, signed and unused, stored and unused, used and captured', async () => {
  const shop = await newShop()
  const { orders } = shop
  const buyer = await fundedAccount(chain, 12_500_000n)
  const drafted = await orders.draft({ amount })
  const orderId = drafted.order.id
  expect(drafted.order.state).toBe('drafted')

  // The merchant does not see that it is signed.
  const payment = await pay(buyer, drafted.payment)
  expect((await orders.get({ orderId })).state).toBe('drafted')
  await orders.accept({ orderId, payment })
  expect((await orders.get({ orderId })).state).toBe('stored')
  expect(await stateOf(payment)).toBe(false)
  await orders.capture({ orderId })
  expect((await orders.get({ orderId })).state).toBe('captured')
  expect(await eventsOf(shop, orderId)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'captured',
  ])
})

test('orders, labels: voided offchain, and canceled', async () => {
  const shop = await newShop()
  const { orders } = shop
  const voided = await storedOrder(chain, shop)
  const canceled = await storedOrder(chain, shop)

  await orders.void({ orderId: voided.id })
  const cancellation = await revokeOrder(shop, canceled.id, canceled.buyer)
  await orders.acceptCancellation({ orderId: canceled.id, cancellation })
  await workUntil(shop, canceled.id, 'canceled')
  expect((await orders.get({ orderId: voided.id })).state).toBe('voided')
  const payments = [voided.signed, canceled.signed]
  expect(await Promise.all(payments.map(stateOf))).toEqual([false, true])
})

test('orders, payer signs: stored against the order, no transaction and no transfer', async () => {
  const shop = await newShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)

  expect((await rowsOf(shop, id)).order.state).toBe('stored')
  expect(await stateOf(signed)).toBe(false)
  expect(await balanceOf(buyer.address)).toBe(12_500_000n)
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, payer signs: amount, recipient, window and fresh nonce are bound by the draft', async () => {
  const shop = await newShop()
  const { payment } = await shop.orders.draft({ amount })
  const time = await now()

  expect(payment.message).toEqual({
    to: shop.seller,
    value: 12_500_000n,
    validAfter: time - 60n,
    validBefore: time + 900n,
    nonce: expect.stringMatching(/^0x[\da-f]{64}$/),
  })
})

test.each<[string, Partial<SignedPayment['message']>]>([
  ['wrongAmount', { value: 12_499_999n }],
  ['wrongRecipient', { to: '0x2222222222222222222222222222222222222222' }],
  ['wrongWindow', { validAfter: 0n }],
  ['wrongWindow', { validBefore: 4_000_000_000n }],
  ['wrongNonce', { nonce }],
])(
  'orders, payer signs: what is bound otherwise than drafted is not stored (%s)',
  async (reason, changes) => {
    const { orders } = await newShop()
    const buyer = await fundedAccount(chain, 12_500_000n)
    const { order, payment } = await orders.draft({ amount })

    const signed = await pay(buyer, payment, changes)
    expect(
      await orders.accept({ orderId: order.id, payment: signed }),
    ).toMatchObject({ ok: false, reason })
    expect((await orders.get({ orderId: order.id })).state).toBe('drafted')
  },
)

test('orders, payer signs: only the payer the order names can', async () => {
  const { orders } = await newShop()
  const [named, other] = [
    await fundedAccount(chain, 12_500_000n),
    await fundedAccount(chain, 12_500_000n),
  ]
  const payer = named.address
  const { order, payment } = await orders.draft({ amount, payer })
  const accept = async (buyer: PrivateKeyAccount) =>
    orders.accept({ orderId: order.id, payment: await pay(buyer, payment) })

  expect(await accept(other)).toMatchObject({ ok: false, reason: 'wrongPayer' })
  expect(await accept(named)).toMatchObject({ ok: true })
})

test('orders, nonce: generated per attempt, and never reused for another order', async () => {
  const shop = await newShop()
  const drafts = await Promise.all(
    Array.from({ length: 50 }, () => shop.orders.draft({ amount })),
  )
  const nonces = drafts.map(({ payment }) => payment.message.nonce)
  expect(new Set(nonces).size).toBe(50)

  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)
  await shop.orders.acceptCancellation({ orderId: id, cancellation })
  await workUntil(shop, id, 'canceled')
  const again = await shop.orders.reauthorize({ orderId: id })
  expect(again).toMatchObject({ ok: true, order: { attempt: 2 } })
  expect(again.ok && again.payment.message.nonce).not.toBe(signed.message.nonce)
})
