import { capturePayment } from 'countersign'
import { permitCheckout } from 'countersign/checkout'
import { increaseTime } from 'viem/actions'
import { expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import { openCeilingShop } from '../../support/ceilingShop.js'
import {
  balanceOf,
  chain,
  fundedPayer,
  merchant,
} from '../../support/checkoutDesk.js'
import { newAccount } from '../../support/desk.js'
import {
  permitPayer,
  recipient,
  signedPermit,
  submitPermit,
  token,
} from '../../support/permitDesk.js'
import {
  cancelPermit,
  client,
  openPermitShop,
  signedAgain,
  signedOrder,
  signPermit,
  storedPermit,
} from '../../support/permitShop.js'
import { eventsOf } from '../../support/shop.js'
import { mineBlocks, watcherOf } from '../../support/watching.js'

test('a token with permits only is paid by a permit, captured once for less', async () => {
  const shop = await openPermitShop()
  const payer = await permitPayer()
  const before = await balanceOf(recipient, token)
  const { id } = await storedPermit(shop, payer)
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    kind: 'permitCheckout',
    primaryType: 'Permit',
    atMost: '50',
  })
  const look = watcherOf(contextOf(shop.orders).context)
  await look()
  const result = await shop.orders.capture({ orderId: id, amount: '42.10' })
  await look()
  expect(result).toMatchObject({ status: 'captured' })
  expect(await balanceOf(recipient, token)).toBe(before + 42_100_000n)
  expect(await balanceOf(payer.address, token)).toBe(57_900_000n)
  expect(await shop.orders.capture({ orderId: id, amount: '1' })).toMatchObject(
    { status: 'rejected', reason: 'otherAmount' },
  )
  const { events } = await shop.orders.events({ limit: 1_000 })
  expect(events.map(({ type }) => type)).not.toContain('unmatched')
  // A refund is a payment of EIP-3009.
  expect(
    await shop.orders.refund({ orderId: id, refundId: 'one' }),
  ).toMatchObject({ ok: false, reason: 'unsupportedToken' })
})

test('of two carts at one permit nonce the first is accepted, and the other is after it', async () => {
  const shop = await openPermitShop()
  const payer = await permitPayer()
  const second = await signedOrder(shop, payer)
  const first = await storedPermit(shop, payer)
  const accept = () =>
    shop.orders.accept({ orderId: second.id, payment: second.payment })
  expect(await accept()).toMatchObject({ ok: false, reason: 'permitOpen' })

  await shop.orders.capture({ orderId: first.id, amount: '1' })
  expect(await accept()).toMatchObject({ ok: false, reason: 'consumed' })
  expect((await storedPermit(shop, payer)).id).not.toBe(first.id)
})

test('a permit that the payer ends is canceled once a final block shows it', async () => {
  const shop = await openPermitShop()
  const payer = await permitPayer()
  const { id, payment } = await storedPermit(shop, payer)
  const { signature: _, ...unsigned } = payment
  const request = await shop.orders.cancellationToSign({ orderId: id })
  expect(request).toMatchObject({ ok: false, reason: 'unsupportedToken' })
  await cancelPermit(payer, unsigned)

  const look = watcherOf(contextOf(shop.orders).context)
  await look()
  const stateOf = async () => (await shop.orders.get({ orderId: id })).state
  expect(await stateOf()).toBe('stored')
  await mineBlocks(chain, 100)
  await look()
  expect(await stateOf()).toBe('canceled')
  expect(await eventsOf(shop, id)).toContain('canceled')
  expect(await shop.orders.reauthorize({ orderId: id })).toMatchObject({
    ok: true,
  })
})

test('the buyer of a signed permit gets it again to cancel it, until it is charged', async () => {
  const shop = await openPermitShop()
  const { orders } = shop
  const payer = await permitPayer()
  const { order, buyerToken } = await orders.draft({
    atMost: '50.00',
    payer: payer.address,
  })
  const { id: orderId } = order
  const asked = { orderId, buyerToken }
  const { payment: drafted } = await orders.getForBuyer(asked)
  if (!drafted) throw new Error('no payment')
  const permit = permitCheckout.parse(drafted)
  const signature = await signPermit(payer, permit)
  await orders.accept({ orderId, payment: { ...permit, signature } })
  const { order: stored, payment } = await orders.getForBuyer(asked)
  expect(stored.state).toBe('stored')
  expect(payment).toEqual(drafted)
  expect(JSON.stringify(payment, (_, value) => String(value))).not.toContain(
    signature.slice(2),
  )
  await orders.capture({ orderId, amount: '1' })
  expect((await orders.getForBuyer(asked)).payment).toBeUndefined()
})

test('a permit whose transaction the record lacks is found when it is reconciled', async () => {
  const shop = await openPermitShop()
  const payer = await permitPayer()
  const { id } = await storedPermit(shop, payer)
  const { payment } = await signedAgain(shop, id, payer)
  await capturePayment(merchant, {
    payment,
    kind: permitCheckout,
    amount: '3',
  })
  await mineBlocks(chain, 1)
  expect(await shop.orders.reconcile()).toMatchObject({
    destinations: [{ captured: 1 }],
  })
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    state: 'captured',
    amount: '3',
  })
  const { events } = await shop.orders.events({ limit: 1_000 })
  const strays = events.filter(({ type }) => type === 'unmatched')
  expect(strays.map(({ data }) => data)).not.toContainEqual(
    expect.objectContaining({ value: '3000000' }),
  )
})

test('a cart that nobody signed does not take the capture of another cart at its permit nonce', async () => {
  const shop = await openPermitShop()
  const { orders } = shop
  const payer = await permitPayer()
  const { order: unsigned } = await orders.draft({
    atMost: '50.00',
    payer: payer.address,
  })
  const first = await storedPermit(shop, payer)
  const { payment } = await signedAgain(shop, first.id, payer)
  await capturePayment(merchant, { payment, kind: permitCheckout, amount: '3' })
  await mineBlocks(chain, 1)
  expect(await orders.reconcile()).toMatchObject({
    destinations: [{ captured: 1 }],
  })
  expect(await orders.get({ orderId: first.id })).toMatchObject({
    state: 'captured',
  })
  expect(await orders.get({ orderId: unsigned.id })).toMatchObject({
    state: 'drafted',
  })

  const look = watcherOf(contextOf(orders).context)
  await increaseTime(chain.clients.test, { seconds: 1_000 })
  await mineBlocks(chain, 1)
  await look()
  await mineBlocks(chain, 4)
  await look()
  expect(await orders.get({ orderId: unsigned.id })).toMatchObject({
    state: 'expired',
    capture: undefined,
  })
})

test('a draft for a recipient whose checkout contract is missing expires, and no signature is accepted', async () => {
  const till = newAccount().address.toLowerCase() as `0x${string}`
  const shop = await openCeilingShop(chain, {
    tokens: [{ client, token }],
    wallets: [merchant],
    recipients: [till],
  })
  const payer = await permitPayer()
  const { order, payment: drafted } = await shop.orders.draft({
    atMost: '5',
    payer: payer.address,
    recipient: till,
  })
  const payment = permitCheckout.parse(drafted)
  const signature = await signPermit(payer, payment)
  expect(
    await shop.orders.accept({
      orderId: order.id,
      payment: { ...payment, signature },
    }),
  ).toMatchObject({ ok: false, reason: 'checkoutNotDeployed' })
  const faults = await shop.orders.reconcile()
  expect(faults.destinations.length).toBeGreaterThan(0)
})

test('the kind of an order decides about its refund, not its token: USDC that was paid by a permit is not refunded', async () => {
  const shop = await openCeilingShop(chain, {
    wallets: [merchant],
    kinds: [permitCheckout],
  })
  const payer = await fundedPayer()
  const { id } = await storedPermit(shop, payer)
  const captured = await shop.orders.capture({ orderId: id, amount: '2' })
  expect(captured).toMatchObject({ status: 'captured' })
  expect(
    await shop.orders.refund({ orderId: id, refundId: 'one' }),
  ).toMatchObject({ ok: false, reason: 'unsupportedToken' })
})

test('a permit whose nonce another permit took is refused by name at its capture, before a final block shows it', async () => {
  const shop = await openPermitShop()
  const payer = await permitPayer()
  const { id: orderId } = await storedPermit(shop, payer)
  await submitPermit(
    await signedPermit(payer, { operator: newAccount().address }),
  )
  const { id, payment } = await signedOrder(shop, await permitPayer())
  expect(await shop.orders.capture({ orderId, amount: '1' })).toMatchObject({
    status: 'rejected',
    reason: 'consumed',
  })
  expect(await shop.orders.get({ orderId })).toMatchObject({ state: 'stored' })
  // Other orders go on.
  expect(await shop.orders.accept({ orderId: id, payment })).toMatchObject({
    ok: true,
  })
  expect(await shop.orders.capture({ orderId: id, amount: '1' })).toMatchObject(
    { status: 'captured' },
  )
})
