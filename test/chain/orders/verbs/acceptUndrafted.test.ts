import { getToken } from 'countersign'
import { createReadClient } from 'countersign/reads'
import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  type AcceptUndraftedParameters,
  acceptUndrafted,
} from '../../../../src/orders/verbs/acceptUndrafted.js'
import { chain, price } from '../../support/acceptShop.js'
import { draft, fundedAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import { eventsOf, openShop, type Shop } from '../../support/shop.js'

const recipient =
  chain.clients.merchant.account.address.toLowerCase() as Address

const shop = await openShop(chain, { recipients: [recipient] })
const token = await getToken(chain.clients.public, { token: chain.token })

/** A Transfer payment that somebody signed without a draft. */
async function signed(changes: Parameters<typeof draft>[1] = {}) {
  const signer = changes.signer ?? (await fundedAccount(chain, price))
  return draft(chain, {
    primaryType: 'TransferWithAuthorization',
    signer,
    to: recipient,
    ...changes,
  })
}

let drawn = 0
const accept = (
  { orders }: Shop,
  fields: Pick<AcceptUndraftedParameters, 'payment'> &
    Partial<AcceptUndraftedParameters>,
) =>
  acceptUndrafted(contextOf(orders).context, {
    orderId: `foreign-${drawn++}`,
    token,
    recipient,
    value: price,
    capture: 'later',
    ...fields,
  })

test('a payment that nobody drafted becomes an order, and is captured', async () => {
  const payment = await signed()
  const verdict = await accept(shop, { payment, metadata: { from: 'x402' } })
  if (!verdict.ok) throw new Error(verdict.reason)
  const { order } = verdict
  expect(order).toMatchObject({
    state: 'stored',
    nonce: payment.message.nonce,
    payer: payment.message.from,
    recipient,
    amount: '12.5',
    metadata: { from: 'x402' },
  })
  expect(await shop.orders.get({ orderId: order.id })).toEqual(order)
  expect(await eventsOf(shop, order.id)).toEqual(['drafted', 'accepted'])
  const result = await shop.orders.capture({ orderId: order.id })
  expect(result.status).toBe('captured')
})

test('of many calls with one payment, one makes an order and writes more', async () => {
  const payment = await signed()
  let written = 0
  const also = async () => {
    written++
  }
  const verdicts = await Promise.all(
    [1, 2, 3, 4].map(() => accept(shop, { payment, also })),
  )
  expect(verdicts.filter(({ ok }) => ok)).toHaveLength(1)
  expect(verdicts.flatMap((one) => (one.ok ? [] : one.reason))).toEqual([
    'otherPayment',
    'otherPayment',
    'otherPayment',
  ])
  expect(written).toBe(1)
})

test('a payment that was drafted for an order is no second order', async () => {
  const buyer = await fundedAccount(chain, price)
  const { payment, order } = await shop.orders.draft({
    amount: '12.50',
    recipient,
    primaryType: 'TransferWithAuthorization',
  })
  const { nonce } = payment.message
  const own = await signed({ signer: buyer, nonce })
  const verdict = await accept(shop, { payment: own })
  expect(verdict).toMatchObject({ ok: false, reason: 'otherPayment' })
  expect((await shop.orders.get({ orderId: order.id })).state).toBe('drafted')
})

test('a worker captures nothing of it before someone asks', async () => {
  const eager = await openShop(chain, {
    recipients: [recipient],
    policy: { capture: 'onAccept' },
  })
  const later = await accept(eager, { payment: await signed() })
  const now = await accept(eager, { payment: await signed(), capture: 'now' })
  if (!later.ok || !now.ok) throw new Error('refused')
  expect([later.order.requested, now.order.requested]).toEqual([
    undefined,
    'capture',
  ])
  const due = await eager.store.read(({ orders }) =>
    orders.find({ ids: [later.order.id, now.order.id] }),
  )
  expect(due.map(({ sendDue }) => sendDue)).toEqual([undefined, 0n])
})

test('it asks the node once, and not at all for a payment that cannot fit', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const client = createReadClient({ chain: chain.chain, url })
  const own = await openShop(chain, { recipients: [recipient], client })
  const refused = [
    await accept(own, { payment: await signed({ to: chain.token }) }),
    await accept(own, { payment: await signed(), value: price + 1n }),
    await accept(own, {
      payment: await signed({ primaryType: 'ReceiveWithAuthorization' }),
    }),
  ].map((verdict) => (verdict.ok ? 'ok' : verdict.reason))
  expect(refused).toEqual(['wrongRecipient', 'wrongAmount', 'wrongPrimaryType'])
  expect(asked).toHaveLength(0)
  expect((await accept(own, { payment: await signed() })).ok).toBe(true)
  expect(asked).toHaveLength(1)
})

test('what the chain would refuse leaves nothing on record', async () => {
  const poor = await fundedAccount(chain, price - 1n)
  const refused = await accept(shop, {
    orderId: 'poor',
    payment: await signed({ signer: poor }),
  })
  expect(refused).toMatchObject({ ok: false, reason: 'insufficientFunds' })
  await expect(shop.orders.get({ orderId: 'poor' })).rejects.toThrow()
  const long = await accept(shop, {
    payment: await signed({
      validBefore: BigInt(Math.floor(Date.now() / 1000)) + 100_000n,
    }),
  })
  expect(long).toMatchObject({ ok: false, reason: 'windowTooLong' })
})

test('one payer has at most so many payments open at once', async () => {
  const signer = await fundedAccount(chain, 3n * price)
  const take = async () =>
    accept(shop, { payment: await signed({ signer }), mostOpen: 2 })
  expect([(await take()).ok, (await take()).ok]).toEqual([true, true])
  expect(await take()).toMatchObject({ ok: false, reason: 'tooManyOpen' })
})

test('what it writes with the order is written with it or not at all', async () => {
  const payment = await signed()
  const fail = async () => {
    throw new Error('no')
  }
  await expect(
    accept(shop, { orderId: 'half', payment, also: fail }),
  ).rejects.toThrow('no')
  await expect(shop.orders.get({ orderId: 'half' })).rejects.toThrow()
  const kept = await accept(shop, {
    payment,
    also: (tables) => tables.setValue('beside', { ok: true }),
  })
  expect(kept.ok).toBe(true)
  expect(await shop.store.read((tables) => tables.getValue('beside'))).toEqual({
    ok: true,
  })
})
