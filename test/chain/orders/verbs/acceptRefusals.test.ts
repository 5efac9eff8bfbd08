import { capturePayment, encodePayment, type SignedPayment } from 'countersign'
import { deployDevContract, devContracts } from 'countersign/devchain'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { chain, orders, price, sell, shop } from '../../support/acceptShop.js'
import { fundedAccount, mined, newAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import {
  openShop,
  pay,
  rowsOf,
  setOrder,
  shows,
  storedOrder,
} from '../../support/shop.js'

const stranger = newAccount()
const zeros: Hex = `0x${'00'.repeat(65)}`
const elsewhere = `0x${'9'.repeat(40)}` as const

test.each<[string, (signed: SignedPayment) => object]>([
  ['malformedSignature', () => ({ signature: zeros })],
  ['wrongChain', ({ domain }) => ({ domain: { ...domain, chainId: 8453 } })],
  [
    'wrongToken',
    ({ domain }) => ({ domain: { ...domain, verifyingContract: elsewhere } }),
  ],
  ['wrongPrimaryType', () => ({ primaryType: 'TransferWithAuthorization' })],
  ['wrongDomain', ({ domain }) => ({ domain: { ...domain, name: 'USDC' } })],
  [
    'wrongDomain',
    ({ domain, signature }) => ({ domain: { ...domain, name: signature } }),
  ],
  [
    'wrongNonce',
    ({ message }) => ({
      message: { ...message, nonce: `0x${'1'.repeat(64)}` },
    }),
  ],
  [
    'wrongRecipient',
    ({ message }) => ({ message: { ...message, to: elsewhere } }),
  ],
  [
    'selfPayment',
    ({ message }) => ({ message: { ...message, from: message.to } }),
  ],
  ['wrongAmount', ({ message }) => ({ message: { ...message, value: 1n } })],
  [
    'wrongWindow',
    ({ message }) => ({
      message: { ...message, validBefore: message.validBefore + 1n },
    }),
  ],
  [
    'wrongWindow',
    ({ message }) => ({
      message: { ...message, validAfter: message.validAfter - 1n },
    }),
  ],
])('%s is told by the draft alone, and counted', async (reason, change) => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = await pay(stranger, payment)
  const verdict = await shop.orders.accept({
    orderId: order.id,
    payment: { ...signed, ...change(signed) },
  })
  expect(verdict).toMatchObject({ ok: false, reason })
  expect(shows(verdict, signed)).toBe(false)
  expect(asked).toHaveLength(1)
  expect((await rowsOf(shop, order.id)).order).toMatchObject({
    state: 'drafted',
    tries: 1,
  })
})

test('a Transfer signature does not pay what asked for Receive', async () => {
  const { orderId, payment, payer } = await sell()
  const primaryType = 'TransferWithAuthorization'
  const signed = await pay(payer, { ...payment, primaryType })
  for (const type of [primaryType, 'ReceiveWithAuthorization'] as const)
    expect(
      await orders.accept({
        orderId,
        payment: { ...signed, primaryType: type },
      }),
    ).toMatchObject({
      ok: false,
      reason: type === primaryType ? 'wrongPrimaryType' : 'wrongSigner',
    })
})

test('a payment for one order does not pay another', async () => {
  const { signed } = await storedOrder(chain, shop)
  const { orderId } = await sell()
  const nonce = signed.message.nonce.toUpperCase().replace('X', 'x') as Hex
  const shouted = { ...signed, message: { ...signed.message, nonce } }
  for (const payment of [signed, shouted])
    expect(await orders.accept({ orderId, payment })).toMatchObject({
      ok: false,
      reason: 'wrongNonce',
    })
})

test('who has to pay is who pays', async () => {
  const { orderId, signed } = await sell({ payer: stranger.address })
  expect(await orders.accept({ orderId, payment: signed })).toEqual({
    ok: false,
    reason: 'wrongPayer',
    details: {
      found: signed.message.from,
      expected: stranger.address.toLowerCase(),
    },
  })
})

test('what the token refuses is refused in its words', async () => {
  const poor = await sell({ buyer: stranger })
  expect(
    await orders.accept({ orderId: poor.orderId, payment: poor.signed }),
  ).toMatchObject({ ok: false, reason: 'insufficientFunds' })
  const forged = await sell()
  const from = stranger.address.toLowerCase() as Hex
  const message = { ...forged.signed.message, from }
  const verdict = await orders.accept({
    orderId: forged.orderId,
    payment: { ...forged.signed, message },
  })
  expect(verdict).toMatchObject({
    reason: 'wrongSigner',
    details: { at: { via: 'override' }, words: expect.any(String) },
  })
  expect(shows(verdict, forged.signed)).toBe(false)
  const blocked = await sell()
  await chain.block({ account: blocked.payer.address })
  expect(
    await orders.accept({ orderId: blocked.orderId, payment: blocked.signed }),
  ).toMatchObject({ ok: false, reason: 'payerBlocked' })
})

test('what is paid or too late by then is refused', async () => {
  const primaryType = 'TransferWithAuthorization'
  const spent = await sell({ primaryType })
  const { relayer } = chain.clients
  await mined(chain, capturePayment(relayer, { payment: spent.signed }))
  expect(
    await orders.accept({ orderId: spent.orderId, payment: spent.signed }),
  ).toMatchObject({ ok: false, reason: 'consumed' })

  const late = await sell({ window: 40n })
  await chain.warp(20)
  // With no more left than the margin nothing would be sent any more.
  const verdict = await orders.accept({
    orderId: late.orderId,
    payment: late.signed,
  })
  expect(verdict).toMatchObject({
    reason: 'expiresTooSoon',
    details: { minRemaining: 20n },
  })
  // A second may have passed since the draft.
  const { remaining } = Object(Reflect.get(verdict, 'details'))
  expect([19n, 20n]).toContain(remaining)
  await chain.warp(20)
  expect(
    await orders.accept({ orderId: late.orderId, payment: late.signed }),
  ).toMatchObject({ ok: false, reason: 'expired' })
})

test('payers that are contracts are refused where the policy says so', async () => {
  const contract = devContracts.permissiveWallet
  const from = await deployDevContract(chain, { contract })
  await chain.mint({ to: from, value: price })
  for (const contractPayers of ['refuse', 'accept'] as const) {
    const shop = await openShop(chain, { policy: { contractPayers } })
    const { order, payment } = await shop.orders.draft({ amount: '12.50' })
    const signed = await pay(newAccount(), payment, { from })
    const verdict = await shop.orders.accept({
      orderId: order.id,
      payment: signed,
    })
    expect(verdict).toMatchObject(
      contractPayers === 'accept'
        ? { ok: true }
        : { ok: false, reason: 'contractPayer', details: {} },
    )
  }
})

test('a second payment for an order is another payment', async () => {
  const { id } = await storedOrder(chain, shop)
  const buyer = await fundedAccount(chain, price)
  const { payment } = await sell({ buyer })
  const order = await orders.get({ orderId: id })
  const { nonce, validAfter, validBefore } = order
  const fields = { nonce, validAfter, validBefore }
  const second = await pay(buyer, payment, fields)
  expect(await orders.accept({ orderId: id, payment: second })).toMatchObject({
    ok: false,
    reason: 'wrongPayer',
  })
  const from = order.payer ?? '0x'
  const forged = { ...second, message: { ...second.message, from } }
  expect(await orders.accept({ orderId: id, payment: forged })).toEqual({
    ok: false,
    reason: 'otherPayment',
    details: { state: 'stored' },
  })
})

test.each(['voided', 'expired', 'canceled', 'consumed'] as const)(
  'an order that is %s takes no payment',
  async (state) => {
    const { orderId, signed } = await sell()
    await setOrder(shop, orderId, { state })
    expect(await orders.accept({ orderId, payment: signed })).toEqual({
      ok: false,
      reason: 'notOpen',
      details: { state },
    })
    expect((await rowsOf(shop, orderId)).order.tries).toBe(0)
  },
)

test('after ten refusals the right payment is refused too', async () => {
  const { orderId, signed } = await sell()
  const wrong = { ...signed, signature: zeros }
  for (let at = 0; at < 10; at++)
    expect(await orders.accept({ orderId, payment: wrong })).toMatchObject({
      reason: 'malformedSignature',
    })
  expect(await orders.accept({ orderId, payment: signed })).toEqual({
    ok: false,
    reason: 'tooManyTries',
    details: { tries: 10 },
  })
  await orders.reauthorize({ orderId })
  expect((await rowsOf(shop, orderId)).order.tries).toBe(0)
})

test.each<[string, unknown]>([
  ['no JSON', '{'],
  ['nothing', undefined],
  ['a number', 7],
  ['a list', []],
])('%s is no payment', async (_, payment) => {
  const { orderId } = await sell()
  await expect(orders.accept({ orderId, payment })).rejects.toMatchObject({
    name: 'InvalidFieldError',
  })
})

test('a payment without a signature is refused by that name', async () => {
  const { orderId, signed } = await sell()
  const { signature, ...unsigned } = signed
  for (const payment of [unsigned, encodePayment(unsigned)])
    await expect(orders.accept({ orderId, payment })).rejects.toMatchObject({
      details: { field: 'payment.signature' },
    })
})
