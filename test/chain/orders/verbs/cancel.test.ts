import {
  cancelPayment,
  capturePayment,
  type SignedCancellation,
} from 'countersign'
import type { OrderRecord } from 'countersign/store'
import { type Hex, keccak256, serializeErc6492Signature } from 'viem'
import { expect, test } from 'vitest'
import { fundedAccount, mined, revoke } from '../../support/desk.js'
import {
  eventsOf,
  pay,
  rowsOf,
  setOrder,
  shows,
  storedOrder,
} from '../../support/shop.js'
import { chain, orders, paid, relaying, shop } from '../../support/voidShops.js'

const { relayer } = chain.clients

test('a relayed cancellation waits for its submitter, and no capture goes out', async () => {
  const { id, cancellation } = await paid(relaying)
  const verdict = await relaying.orders.acceptCancellation({
    orderId: id,
    cancellation,
  })
  expect(verdict).toEqual({
    ok: true,
    order: {
      ...(await relaying.orders.get({ orderId: id })),
      state: 'stored',
      requested: 'cancel',
    },
  })
  expect(shows(verdict, cancellation)).toBe(false)
  const { order, attempts } = await rowsOf(relaying, id)
  expect(order.sendDue).toBe(0n)
  expect(attempts[0]?.cancellation).toBe(`none ${cancellation.signature}`)
  expect(
    await relaying.orders.acceptCancellation({ orderId: id, cancellation }),
  ).toEqual(verdict)
  expect(await eventsOf(relaying, id)).toEqual([
    'drafted',
    'accepted',
    'cancellationAccepted',
  ])
})

test('a cancellation that is not relayed voids, and gives the buyer the call', async () => {
  const { id, buyer, signed, cancellation } = await paid(shop)
  const verdict = await orders.acceptCancellation({ orderId: id, cancellation })
  expect(verdict).toMatchObject({
    ok: true,
    order: { state: 'voided', requested: undefined },
    call: { to: chain.token, data: expect.stringMatching(/^0x5a049a70/) },
  })
  // Who asks again and again writes no more.
  expect(
    await orders.acceptCancellation({ orderId: id, cancellation }),
  ).toEqual(verdict)
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'cancellationAccepted',
    'voided',
  ])
  if (!('call' in verdict)) throw new Error('no call')
  await mined(
    chain,
    relayer.sendTransaction({ ...verdict.call, account: relayer.account }),
  )
  await expect(
    capturePayment(relayer, {
      payment: await pay(buyer, signed, signed.message),
      account: (await rowsOf(shop, id)).order.recipient,
    }),
  ).rejects.toMatchObject({ reason: 'consumed' })
})

test('the merchant can have a kept cancellation sent all the same', async () => {
  const { id, cancellation } = await paid(shop)
  expect(await orders.approveCancellation({ orderId: id })).toMatchObject({
    ok: false,
    reason: 'notOpen',
  })
  await orders.acceptCancellation({ orderId: id, cancellation })
  const verdict = await orders.approveCancellation({ orderId: id })
  expect(verdict).toMatchObject({
    ok: true,
    order: { state: 'voided', requested: 'cancel' },
  })
  expect(verdict).not.toHaveProperty('call')
  expect((await rowsOf(shop, id)).order.sendDue).toBe(0n)
})

test.each([
  [shop, 'void'],
  [relaying, 'cancel'],
] as const)(
  'while a capture is under way a cancellation is kept as a requested',
  async (shop, requested) => {
    const { id, cancellation } = await paid(shop)
    await setOrder(shop, id, { state: 'capturing' })
    const cancel = () =>
      shop.orders.acceptCancellation({ orderId: id, cancellation })
    for (const verdict of [await cancel(), await cancel()])
      expect(verdict).toMatchObject({
        ok: false,
        reason: 'captureInFlight',
        order: { state: 'capturing', requested },
      })
    const { order, attempts } = await rowsOf(shop, id)
    expect(order.sendDue).toBeUndefined()
    expect(attempts[0]?.cancellation).toBe(`none ${cancellation.signature}`)
    expect(await eventsOf(shop, id)).toEqual([
      'drafted',
      'accepted',
      'cancellationAccepted',
    ])
    expect(
      await shop.orders.approveCancellation({ orderId: id }),
    ).toMatchObject({
      reason: 'captureInFlight',
      order: { requested: 'cancel' },
    })
  },
)

test.each(['void first', 'cancellation first'])(
  'while a capture is under way a void and a relayed cancellation are both kept, %s',
  async (order) => {
    const { id, cancellation } = await paid(relaying)
    await setOrder(relaying, id, { state: 'capturing', requested: 'capture' })
    const isFirst = order === 'void first'
    const orderId = id
    const { orders } = relaying
    if (isFirst) await orders.void({ orderId })
    for (const verdict of [
      await orders.acceptCancellation({ orderId, cancellation }),
      await orders.acceptCancellation({ orderId, cancellation }),
    ])
      expect(verdict).toMatchObject({ ok: false, reason: 'captureInFlight' })
    if (!isFirst) await orders.void({ orderId })
    const rows = await rowsOf(relaying, id)
    expect(rows.order).toMatchObject({ state: 'capturing', requested: 'void' })
    const [attempt] = rows.attempts
    expect(attempt?.cancellation).toBe(`none ${cancellation.signature}`)
    expect(await eventsOf(relaying, id)).toEqual([
      ...['drafted', 'accepted', 'cancellationAccepted'],
    ])
  },
)

test.each<[string, (cancellation: SignedCancellation) => object]>([
  [
    'payer',
    ({ message }) => ({
      message: { ...message, authorizer: `0x${'9'.repeat(40)}` },
    }),
  ],
  [
    'nonce',
    ({ message }) => ({ message: { ...message, nonce: keccak256('0x') } }),
  ],
  ['chain', ({ domain }) => ({ domain: { ...domain, chainId: 1 } })],
  ['name', ({ domain }) => ({ domain: { ...domain, name: 'USDC' } })],
])('a cancellation of another %s is another one', async (_, change) => {
  const { id, cancellation } = await paid(shop)
  const other = { ...cancellation, ...change(cancellation) }
  const verdict = await orders.acceptCancellation({
    orderId: id,
    cancellation: other,
  })
  expect(verdict).toMatchObject({ ok: false, reason: 'otherPayment' })
  expect(shows(verdict, cancellation)).toBe(false)
  expect((await rowsOf(shop, id)).order.state).toBe('stored')
})

test('a signature for something else cancels nothing', async () => {
  const { id, cancellation } = await paid(shop)
  const { signature } = (await paid(shop)).cancellation
  const verdict = await orders.acceptCancellation({
    orderId: id,
    cancellation: { ...cancellation, signature },
  })
  expect(verdict).toMatchObject({ ok: false, reason: 'wrongSigner' })
  expect((await rowsOf(shop, id)).attempts[0]?.cancellation).toBeUndefined()
})

test('a cancellation whose signature is wrapped twice is no signature', async () => {
  const { id, cancellation } = await paid(shop)
  const { authorizer: address } = cancellation.message
  const wrap = (signature: Hex) =>
    serializeErc6492Signature({ address, data: '0x1234', signature })
  const signature = wrap(wrap(cancellation.signature))
  await expect(
    orders.acceptCancellation({
      orderId: id,
      cancellation: { ...cancellation, signature },
    }),
  ).rejects.toMatchObject({
    name: 'InvalidFieldError',
    details: { field: 'signature' },
  })
  expect((await rowsOf(shop, id)).attempts[0]?.cancellation).toBeUndefined()
})

test('what the chain has spent is not canceled, whatever the record says', async () => {
  const primaryType = 'TransferWithAuthorization'
  const { id, buyer, signed } = await storedOrder(chain, shop, { primaryType })
  const cancellation = await revoke(chain, signed, buyer)
  await mined(chain, capturePayment(relayer, { payment: signed }))
  expect(
    await orders.acceptCancellation({ orderId: id, cancellation }),
  ).toMatchObject({
    ok: false,
    reason: 'consumed',
    order: { state: 'stored', requested: undefined },
  })
  const other = await paid(shop)
  await mined(
    chain,
    cancelPayment(relayer, { cancellation: other.cancellation }),
  )
  expect(
    await orders.acceptCancellation({
      orderId: other.id,
      cancellation: other.cancellation,
    }),
  ).toMatchObject({ ok: false, reason: 'consumed', order: { state: 'stored' } })
})

test('from the end of the window on no gas is spent on a cancellation', async () => {
  const { id, buyer, signed } = await storedOrder(chain, relaying, {
    window: 30n,
  })
  const cancellation = await revoke(chain, signed, buyer)
  await chain.warp(30)
  expect(
    await relaying.orders.acceptCancellation({ orderId: id, cancellation }),
  ).toMatchObject({
    ok: false,
    reason: 'expired',
    order: { requested: undefined },
  })
})

test.each<[OrderRecord['state'], string]>([
  ['captured', 'consumed'],
  ['canceled', 'consumed'],
  ['consumed', 'consumed'],
  ['expired', 'expired'],
  ['drafted', 'notOpen'],
])('an order that is %s is not canceled: %s', async (state, reason) => {
  const { id, cancellation } = await paid(shop)
  await setOrder(shop, id, { state })
  const orderId = id
  expect(
    await orders.acceptCancellation({ orderId, cancellation }),
  ).toMatchObject({
    ok: false,
    reason,
  })
  expect(await orders.approveCancellation({ orderId })).toMatchObject({
    ok: false,
    reason,
  })
  expect(await orders.cancellationToSign({ orderId })).toEqual({
    ok: false,
    reason: 'notOpen',
    order: await orders.get({ orderId }),
  })
})

test.each([shop, relaying])(
  'what is being canceled is not asked for again',
  async (shop) => {
    const { id, cancellation } = await paid(shop)
    await setOrder(shop, id, { state: 'canceling' })
    expect(
      await shop.orders.acceptCancellation({ orderId: id, cancellation }),
    ).toEqual({
      ok: true,
      order: await shop.orders.get({ orderId: id }),
    })
    expect(await eventsOf(shop, id)).toEqual(['drafted', 'accepted'])
  },
)

test('an order voided before anyone paid has nothing to cancel', async () => {
  const buyer = await fundedAccount(chain)
  const { order, payment } = await orders.draft({ amount: '12.50' })
  const orderId = order.id
  await orders.void({ orderId })
  const signed = await pay(buyer, payment)
  const cancellation = await revoke(chain, signed, buyer)
  expect(
    await orders.acceptCancellation({ orderId, cancellation }),
  ).toMatchObject({
    ok: false,
    reason: 'notOpen',
  })
})

test('an unsigned cancellation is refused by that name', async () => {
  const { id, cancellation } = await paid(shop)
  const { signature, ...unsigned } = cancellation
  await expect(
    orders.acceptCancellation({
      orderId: id,
      cancellation: unsigned as unknown as SignedCancellation,
    }),
  ).rejects.toMatchObject({ details: { field: 'cancellation.signature' } })
})

test('on a Receive order with other words for the same bytes it is the same', async () => {
  const { id, cancellation } = await paid(relaying)
  const upper = (text: Hex) => `0x${text.slice(2).toUpperCase()}` as Hex
  const { authorizer, nonce } = cancellation.message
  const shouted = {
    ...cancellation,
    message: { authorizer: upper(authorizer), nonce: upper(nonce) },
    signature: upper(cancellation.signature),
  }
  expect(
    await relaying.orders.acceptCancellation({
      orderId: id,
      cancellation: shouted,
    }),
  ).toMatchObject({ ok: true, order: { requested: 'cancel' } })
})
