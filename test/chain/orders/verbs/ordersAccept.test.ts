import { capturePayment, encodePayment, type SignedPayment } from 'countersign'
import {
  deployDevContract,
  deployDevToken,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import type { PaymentStore } from 'countersign/store'
import { memoryStore } from 'countersign/store'
import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount, mined, newAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  setOrder,
  shows,
  storedOrder,
} from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n
const shop = await openShop(chain)
const { orders } = shop

type Draft = Partial<Parameters<Orders['draft']>[0]>

/** A drafted order and what its buyer signed, not yet handed in. */
async function sell({
  buyer,
  changes,
  ...draft
}: Draft & {
  buyer?: Awaited<ReturnType<typeof fundedAccount>> | undefined
  changes?: Parameters<typeof pay>[2]
} = {}) {
  const payer = buyer ?? (await fundedAccount(chain, price))
  const drafted = await orders.draft({ amount: '12.50', ...draft })
  const signed = await pay(payer, drafted.payment, changes)
  return { ...drafted, payer, signed, orderId: drafted.order.id }
}

test('an accepted payment is stored after one HTTP request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  expect(asked).toHaveLength(1)
  const signed = await pay(buyer, payment)
  const verdict = await shop.orders.accept({
    orderId: order.id,
    payment: encodePayment(signed),
  })
  expect(asked).toHaveLength(2)
  const stored = {
    ...order,
    state: 'stored',
    payer: signed.message.from,
    spendableUntil: order.validBefore,
  }
  expect(verdict).toEqual({
    ok: true,
    order: stored,
    at: {
      block: expect.any(BigInt),
      time: expect.any(BigInt),
      via: 'override',
      gasUsed: expect.any(BigInt),
    },
  })
  expect(await shop.orders.get({ orderId: order.id })).toEqual(stored)
  expect(await eventsOf(shop, order.id)).toEqual(['drafted', 'accepted'])
})

test('the same signature again is the same answer, without a request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const { id, signed } = await storedOrder(chain, shop)
  const before = asked.length
  const upper = `0x${signed.signature.slice(2).toUpperCase()}` as Hex
  const bare = `${signed.signature.slice(0, -2)}${
    signed.signature.endsWith('1b') ? '00' : '01'
  }` as Hex
  for (const signature of [signed.signature, upper, bare])
    expect(
      await shop.orders.accept({
        orderId: id,
        payment: { ...signed, signature },
      }),
    ).toEqual({
      ok: true,
      order: await shop.orders.get({ orderId: id }),
      at: undefined,
    })
  await setOrder(shop, id, { state: 'captured' })
  expect(
    await shop.orders.accept({ orderId: id, payment: signed }),
  ).toMatchObject({ ok: true, order: { state: 'captured' } })
  expect(asked).toHaveLength(before)
  expect(await eventsOf(shop, id)).toEqual(['drafted', 'accepted'])
})

test('a payment in any letter case is the same payment', async () => {
  const { orderId, signed } = await sell()
  const { message, domain } = signed
  const upper = <text extends string>(text: text) =>
    `0x${text.slice(2).toUpperCase()}` as text
  const payment = {
    ...signed,
    domain: { ...domain, verifyingContract: upper(domain.verifyingContract) },
    message: {
      ...message,
      nonce: upper(message.nonce),
      from: upper(message.from),
      to: upper(message.to),
    },
    signature: upper(signed.signature),
  }
  expect(await orders.accept({ orderId, payment })).toMatchObject({ ok: true })
  expect(await orders.accept({ orderId, payment: signed })).toMatchObject({
    ok: true,
    at: undefined,
  })
})

test('a payment of a token with 18 decimals is accepted', async () => {
  const token = await deployDevToken(chain, { decimals: 18 })
  const shop = await openShop(chain, { tokens: [token] })
  const buyer = await fundedAccount(chain)
  await chain.mint({ to: buyer.address, value: 10n ** 18n, token })
  const { order, payment } = await shop.orders.draft({ token, amount: '1' })
  const signed = await pay(buyer, payment)
  expect(
    await shop.orders.accept({ orderId: order.id, payment: signed }),
  ).toMatchObject({ ok: true, order: { value: 10n ** 18n } })
})

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

test('no more is accepted than the submitter has gas for, at no one’s cost', async () => {
  const seller = newAccount()
  const gasPrice = await chain.clients.public.getGasPrice()
  await chain.clients.test.setBalance({
    address: seller.address,
    value: 3n * 130_000n * gasPrice,
  })
  const shop = await openShop(chain, { sellers: [seller] })
  const buyer = await fundedAccount(chain, 100n * price)
  const reasons: string[] = []
  for (let at = 0; at < 5; at++) {
    const { order, payment } = await shop.orders.draft({ amount: '12.50' })
    const signed = await pay(buyer, payment)
    const orderId = order.id
    const verdict = await shop.orders.accept({ orderId, payment: signed })
    reasons.push(verdict.ok ? 'ok' : verdict.reason)
    expect((await rowsOf(shop, orderId)).order.tries).toBe(0)
  }
  expect(reasons).toEqual([
    'ok',
    'ok',
    'ok',
    'submitterFunds',
    'submitterFunds',
  ])
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

test('an order is accepted by one at a time', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = await pay(buyer, payment)
  const accept = () =>
    shop.orders.accept({ orderId: order.id, payment: signed })
  const verdicts = await Promise.all([accept(), accept(), accept()])
  expect(verdicts.map((it) => (it.ok ? 'ok' : it.reason)).sort()).toEqual([
    'acceptInFlight',
    'acceptInFlight',
    'ok',
  ])
  expect(asked).toHaveLength(2)
  expect(await accept()).toMatchObject({ ok: true })
})

test('a lease that cannot be given back takes nothing from who was accepted', async () => {
  const inner = memoryStore()
  const releaseLease = async () => {
    throw new TypeError('the database is gone')
  }
  const shop = await openShop(chain, { store: { ...inner, releaseLease } })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = await pay(buyer, payment)
  const accept = () =>
    shop.orders.accept({ orderId: order.id, payment: signed })
  expect(await accept()).toMatchObject({ ok: true })
  expect(await accept()).toMatchObject({ ok: true })
})

test('an order that was accepted leaves no lease behind', async () => {
  const inner = memoryStore()
  const keys: string[] = []
  const takeLease: PaymentStore['takeLease'] = (wanted) => {
    keys.push(wanted.key)
    return inner.takeLease(wanted)
  }
  const shop = await openShop(chain, { store: { ...inner, takeLease } })
  const { id } = await storedOrder(chain, shop)
  expect(keys).toEqual([`accept:${id}`])
  expect(await inner.read((it) => it.getLease(`accept:${id}`))).toBeUndefined()
})

test('what one payer has open never exceeds the payer’s balance', async () => {
  const buyer = await fundedAccount(chain, 7n * price + price / 2n)
  const sold = await Promise.all(
    Array.from({ length: 50 }, () => sell({ buyer })),
  )
  const verdicts = await Promise.all(
    sold.map(({ orderId, signed }) =>
      orders.accept({ orderId, payment: signed }),
    ),
  )
  expect(verdicts.filter(({ ok }) => ok)).toHaveLength(7)
  for (const verdict of verdicts)
    if (!verdict.ok)
      expect(verdict).toEqual({
        ok: false,
        reason: 'exposureTooHigh',
        details: {
          at: expect.any(Object),
          balance: 7n * price + price / 2n,
          open: 7n * price,
          value: price,
        },
      })
})

test('what was captured since the balance was read still counts', async () => {
  const buyer = await fundedAccount(chain, price)
  let capture: (() => Promise<unknown>) | undefined
  // Sealing comes after the chain was asked, and before the write.
  const seal = async (secret: string) => {
    const now = capture
    capture = undefined
    await now?.()
    return secret
  }
  const open = async (sealed: string) => sealed
  const shop = await openShop(chain, { seal: { seal, open } })
  const [first, second] = await Promise.all([
    shop.orders.draft({ amount: '12.50' }),
    shop.orders.draft({ amount: '12.50' }),
  ])
  const accept = async ({ order, payment }: typeof first) =>
    shop.orders.accept({
      orderId: order.id,
      payment: await pay(buyer, payment),
    })
  expect(await accept(first)).toMatchObject({ ok: true })
  const results: unknown[] = []
  capture = async () => {
    results.push(await shop.orders.capture({ orderId: first.order.id }))
  }
  expect(await accept(second)).toMatchObject({
    reason: 'exposureTooHigh',
    details: { balance: price, open: price, value: price },
  })
  expect(results).toMatchObject([{ status: 'captured' }])
})

test('a voided payment counts as long as it can be spent', async () => {
  const buyer = await fundedAccount(chain, price)
  const first = await sell({ buyer, window: 60n })
  await orders.accept({ orderId: first.orderId, payment: first.signed })
  await orders.void({ orderId: first.orderId })
  const second = await sell({ buyer })
  const accept = () =>
    orders.accept({ orderId: second.orderId, payment: second.signed })
  expect(await accept()).toMatchObject({ reason: 'exposureTooHigh' })
  await chain.warp(60)
  expect(await accept()).toMatchObject({ ok: true })
})

test('shops of one store count what a payer has open in both', async () => {
  const store = memoryStore()
  const buyer = await fundedAccount(chain, price)
  const shops = [
    await openShop(chain, { store }),
    await openShop(chain, { store }),
  ]
  const reasons: string[] = []
  for (const { orders } of shops) {
    const { order, payment } = await orders.draft({ amount: '12.50' })
    const signed = await pay(buyer, payment)
    const verdict = await orders.accept({ orderId: order.id, payment: signed })
    reasons.push(verdict.ok ? 'ok' : verdict.reason)
  }
  expect(reasons).toEqual(['ok', 'exposureTooHigh'])
})

test('with one order of a payer held the next ones wait as well', async () => {
  const buyer = await fundedAccount(chain, 3n * price)
  const [one, two] = [await sell({ buyer }), await sell({ buyer })]
  await orders.accept({ orderId: one.orderId, payment: one.signed })
  await setOrder(shop, one.orderId, { needsReview: true })
  expect(
    await orders.accept({ orderId: two.orderId, payment: two.signed }),
  ).toMatchObject({
    ok: true,
    order: { needsReview: true, reason: 'needsReview' },
  })
  expect(await eventsOf(shop, two.orderId)).toEqual([
    'drafted',
    'accepted',
    'needsReview',
  ])
})

test.each([
  ['manual', () => undefined],
  ['onAccept', () => 0n],
  ['beforeDeadline', (end: bigint) => end - 300n],
] as const)(
  'with policy %s it is due for sending when it says',
  async (capture, due) => {
    const shop = await openShop(chain, { policy: { capture } })
    const { id } = await storedOrder(chain, shop)
    const { order } = await rowsOf(shop, id)
    expect(order.sendDue).toBe(due(order.deadline))
    expect(order.lookDue).toBe(order.deadline - 300n)
  },
)

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

/** A store that does something right before a write. */
function hurriedStore(hurry: () => Promise<void>): PaymentStore {
  const store = memoryStore()
  let isArmed = false
  return {
    ...store,
    takeLease: async (wanted) => {
      isArmed = true
      return store.takeLease(wanted)
    },
    write: async (work, options) => {
      if (isArmed) {
        isArmed = false
        await hurry()
      }
      return store.write(work, options)
    },
  }
}

test('an order voided while its payment is judged stays voided', async () => {
  let orderId = ''
  const store = hurriedStore(async () => {
    await shop.orders.void({ orderId })
  })
  const shop = await openShop(chain, { store })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  orderId = order.id
  const signed = await pay(buyer, payment)
  expect(await shop.orders.accept({ orderId, payment: signed })).toEqual({
    ok: false,
    reason: 'notOpen',
    details: { state: 'voided' },
  })
  const [attempt] = (await rowsOf(shop, orderId)).attempts
  expect(attempt).toMatchObject({ spendable: false, signature: undefined })
})

test('no record but the sealed one holds the signature', async () => {
  const shop = await openShop(chain, {
    seal: {
      seal: async (secret) => `sealed ${[...secret].reverse().join('')}`,
      open: async (sealed) => [...sealed.slice(7)].reverse().join(''),
    },
  })
  const { id, signed } = await storedOrder(chain, shop)
  const rows = await rowsOf(shop, id)
  expect(shows(rows, signed)).toBe(false)
  expect(rows.attempts[0]?.signature).toMatch(/^sealed /)
  const answers = [
    await shop.orders.get({ orderId: id }),
    await shop.orders.list(),
    await shop.orders.events(),
    await shop.orders.health(),
    await shop.orders.accept({ orderId: id, payment: signed }),
    await shop.orders.void({ orderId: id }),
  ]
  expect(shows(answers, signed)).toBe(false)
  expect(shows({ signed }, signed)).toBe(true)
})
