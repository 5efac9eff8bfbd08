import { capturePayment } from 'countersign'
import { createFacilitator, createX402Gate } from 'countersign/x402'
import { afterAll, expect, test, vi } from 'vitest'
import {
  bodyOf,
  type FacilitatorShop,
  openFacilitator,
  transfersTo,
} from '../support/facilitatorShop.js'
import {
  network,
  openStock,
  paymentOf,
  price,
  type Sent,
  sign402,
  startFacilitatorChain,
} from '../support/stockFacilitator.js'

const chain = await startFacilitatorChain()
afterAll(() => chain.stop())

const used = 'invalid_exact_evm_nonce_already_used'
/** Asks to settle, and goes away once the transaction is sent. */
async function leaveOnceSent(
  { ask, orders }: FacilitatorShop,
  sent: Sent,
): Promise<void> {
  const leaving = new AbortController()
  const settling = ask('settle', bodyOf(sent), 'one', leaving.signal)
  await expect
    .poll(async () => (await orders.list()).orders[0]?.state)
    .toBe('capturing')
  leaving.abort()
  expect(await (await settling).json()).toMatchObject({ success: false })
}

const aHash = expect.stringMatching(/^0x[\da-f]{64}$/)

test('a payment is verified, then settled in one transfer', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  const payer = sent.payer.address

  expect(await shop.verify(sent)).toEqual({ isValid: true, payer })
  expect(await shop.settle(sent)).toEqual({
    success: true,
    transaction: aHash,
    network,
    payer,
  })
  expect(await transfersTo(chain, shop.seller)).toBe(1)
  await shop.orders.close()
})

test('verifying writes nothing', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  for (let times = 0; times < 3; times++)
    expect(await shop.verify(sent)).toMatchObject({ isValid: true })
  expect((await shop.orders.list()).orders).toEqual([])
  expect((await shop.orders.events()).events).toEqual([])
  await shop.orders.close()
})

test('settling says success once, then that the nonce is used, with the hash', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  const { transaction } = await shop.settle(sent)
  for (let times = 0; times < 3; times++)
    expect(await shop.settle(sent)).toMatchObject({
      success: false,
      errorReason: used,
      transaction,
    })
  expect(await shop.verify(sent)).toMatchObject({
    isValid: false,
    invalidReason: used,
  })
  expect(await transfersTo(chain, shop.seller)).toBe(1)
  await shop.orders.close()
})

test('a caller that deduplicates gets the success again, and no other does', async () => {
  const shop = await openFacilitator(chain, {
    callers: {
      one: { name: 'one', deduplicates: true },
      two: { name: 'two', deduplicates: true },
    },
  })
  const sent = await shop.pay()
  const first = await shop.settle(sent)
  expect(first.success).toBe(true)
  expect(await shop.settle(sent)).toEqual(first)
  expect(await shop.verify(sent)).toMatchObject({ isValid: true })
  expect(await shop.settle(sent, 'two')).toMatchObject({
    success: false,
    errorReason: used,
    transaction: first.transaction,
  })
  expect(await shop.verify(sent, 'two')).toMatchObject({ isValid: false })
  await shop.orders.close()
})

test('of calls that settle the same payment at once, one gets the success', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  const keys = ['one', 'two', 'one', 'two', 'one']
  const answers = await Promise.all(keys.map((key) => shop.settle(sent, key)))
  const won = answers.filter(({ success }) => success)
  const lost = answers.filter(({ success }) => !success)

  expect(won).toHaveLength(1)
  expect(lost.map(({ errorReason }) => errorReason)).toEqual(
    Array.from({ length: 4 }, () => used),
  )
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
  expect(await transfersTo(chain, shop.seller)).toBe(1)
  await shop.orders.close()
})

test('a payment cannot be verified while another call settles it', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  await chain.clients.test.setAutomine(false)
  const settling = shop.settle(sent)
  await expect.poll(async () => (await shop.verify(sent)).isValid).toBe(false)
  expect((await shop.verify(sent)).invalidReason).toBe(used)
  await chain.clients.test.setAutomine(true)
  await chain.clients.test.mine({ blocks: 1 })
  expect((await settling).success).toBe(true)
  await shop.orders.close()
})

test('a caller that went away before the answer gets the success when it asks again', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  await chain.clients.test.setAutomine(false)
  await leaveOnceSent(shop, sent)

  expect(await shop.verify(sent)).toMatchObject({ isValid: true })
  expect(await shop.verify(sent, 'two')).toMatchObject({ isValid: false })
  await chain.clients.test.setAutomine(true)
  await chain.clients.test.mine({ blocks: 1 })
  expect(await shop.settle(sent, 'two')).toMatchObject({
    success: false,
    errorReason: used,
  })
  expect(await shop.settle(sent)).toMatchObject({ success: true })
  expect(await transfersTo(chain, shop.seller)).toBe(1)
  await shop.orders.close()
})

test('the same payment for another resource is refused, even if it was never answered', async () => {
  const shop = await openFacilitator(chain)
  const { payer, ...sent } = await shop.pay()
  const other = structuredClone(sent)
  other.paymentPayload.resource = { url: 'http://shop.example/other' }
  const leaving = new AbortController()
  leaving.abort()
  await shop.ask('settle', bodyOf(sent), 'one', leaving.signal)

  expect(await shop.settle(other)).toMatchObject({
    success: false,
    errorReason: used,
  })
  expect(await shop.settle(sent)).toMatchObject({ success: true })
  await shop.orders.close()
})

test.each([
  ['another signature', { signature: `0x${'11'.repeat(64)}1b` }, {}],
  ['another amount', { authorization: { value: '1' } }, {}],
  ['a higher price', {}, { amount: String(2n * price) }],
])(
  'the nonce of a payment that is not answered buys nothing with %s',
  async (_, payload, terms) => {
    const shop = await openFacilitator(chain, {
      callers: { one: { name: 'one', deduplicates: true } },
    })
    const sent = await shop.pay()
    const forged: Sent = JSON.parse(JSON.stringify(sent))
    const { authorization } = forged.paymentPayload.payload
    Object.assign(forged.paymentPayload.payload, payload, {
      authorization: {
        ...Object(authorization),
        ...Object(Object(payload).authorization),
      },
    })
    Object.assign(forged.paymentRequirements, terms)
    const leaving = new AbortController()
    leaving.abort()
    await shop.ask('settle', bodyOf(sent), 'one', leaving.signal)
    const check = async () => {
      expect(await shop.verify(forged)).toMatchObject({ isValid: false })
      expect(await shop.settle(forged)).toMatchObject({
        success: false,
        errorReason: used,
      })
    }
    await check()
    expect(await shop.settle(sent)).toMatchObject({ success: true })
    await check()
    await shop.orders.close()
  },
)

test('a settlement that is not mined in time is pending with its hash, and the retry succeeds', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  await chain.clients.test.setAutomine(false)
  await leaveOnceSent(shop, sent)
  const brief = createFacilitator({
    orders: shop.orders,
    authorize: () => ({ name: 'one' }),
    timeout: 0,
  }).schemeFor({ name: 'one' })
  const ask = () => brief.settle(sent.paymentPayload, sent.paymentRequirements)
  for (let times = 0; times < 2; times++)
    expect(await ask()).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: aHash,
    })
  await chain.clients.test.setAutomine(true)
  await chain.clients.test.mine({ blocks: 1 })
  expect(await shop.settle(sent)).toMatchObject({ success: true })
  expect(await transfersTo(chain, shop.seller)).toBe(1)
  await shop.orders.close()
})

test('a settlement that cannot be sent in time fails for good: no later call moves the tokens', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  await shop.verify(sent)
  // Another instance has the account, and does nothing.
  const lease = await shop.store.takeLease({
    key: `submitter:31337:${shop.seller}`,
    owner: 'another',
    milliseconds: 600_000,
  })
  const brief = createFacilitator({
    orders: shop.orders,
    authorize: () => undefined,
    timeout: 100,
  }).schemeFor({ name: 'one' })
  const first = await brief.settle(
    sent.paymentPayload,
    sent.paymentRequirements,
  )
  expect(first).toMatchObject({
    success: false,
    errorReason: 'unexpected_settle_error',
    transaction: '',
  })
  if (lease) await shop.store.releaseLease(lease)
  for (let times = 0; times < 2; times++)
    expect(await shop.settle(sent)).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
      transaction: '',
    })
  expect(await shop.verify(sent)).toMatchObject({ isValid: false })
  expect(await transfersTo(chain, shop.seller)).toBe(0)
  await shop.orders.close()
})

test('without ether to send it, a payment is refused, and nothing is written', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  await chain.clients.test.setBalance({ address: shop.seller, value: 0n })
  const first = await shop.settle(sent)
  expect(first).toMatchObject({ success: false, transaction: '' })
  await chain.clients.test.setBalance({
    address: shop.seller,
    value: 10n ** 18n,
  })
  expect((await shop.orders.list()).orders).toEqual([])
  expect(await transfersTo(chain, shop.seller)).toBe(0)
  await shop.orders.close()
})

test('a payment that a stranger submitted first is used, and nothing is captured for it', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  const stranger = await openStock(chain)
  await stranger.settle(sent.paymentPayload, sent.paymentRequirements)
  expect(await shop.verify(sent)).toMatchObject({ invalidReason: used })
  expect(await shop.settle(sent)).toMatchObject({
    success: false,
    errorReason: used,
  })
  expect((await shop.orders.list()).orders).toEqual([])
  await shop.orders.close()
})

test.each([
  ['is used', false],
  ['is a success for a caller that deduplicates', true],
])(
  'a payment that a stranger submits while it is settled %s',
  async (_, deduplicates) => {
    const shop = await openFacilitator(chain, {
      callers: { one: { name: 'one', deduplicates } },
    })
    const sent = await shop.pay()
    await shop.verify(sent)
    await chain.clients.test.setAutomine(false)
    const settling = shop.settle(sent)
    await expect
      .poll(async () => (await shop.orders.list()).orders[0]?.state)
      .toBe('capturing')
    const stranger = await capturePayment(chain.clients.relayer, {
      payment: paymentOf(chain, sent),
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    await chain.clients.test.mine({ blocks: 1 })
    await chain.clients.test.setAutomine(true)
    for (const answer of [await settling, await shop.settle(sent)])
      expect(answer).toMatchObject({
        success: deduplicates,
        transaction: stranger,
        ...(deduplicates ? {} : { errorReason: used }),
      })
    expect((await shop.verify(sent)).isValid).toBe(deduplicates)
    expect(await transfersTo(chain, shop.seller)).toBe(1)
    await shop.orders.close()
  },
)

test('a payment that the gate took is not settled here, and none that was settled here is sold', async () => {
  const shop = await openFacilitator(chain)
  const url = 'http://shop.example/weather'
  const gate = createX402Gate({
    orders: shop.orders,
    offers: { weather: { amount: '12.50' } },
  })
  const work = vi.fn(() => new Response('sunny'))
  const serve = gate.protect('weather', work)
  const buy = ({ paymentPayload }: Sent) => {
    const header = Buffer.from(JSON.stringify(paymentPayload)).toString(
      'base64',
    )
    return serve(new Request(url, { headers: { 'payment-signature': header } }))
  }
  const [one, two] = [await shop.pay(), await shop.pay()]
  expect((await buy(one)).status).toBe(200)
  expect(await shop.verify(one)).toMatchObject({ invalidReason: used })
  expect(await shop.settle(one)).toMatchObject({ errorReason: used })

  expect(await shop.settle(two)).toMatchObject({ success: true })
  expect((await buy(two)).status).toBe(402)
  expect(work).toHaveBeenCalledTimes(1)
  expect(await transfersTo(chain, shop.seller)).toBe(2)
  await shop.orders.close()
})

test('a payment accepted for a checkout order is not settled here', async () => {
  const shop = await openFacilitator(chain)
  const payer = chain.clients.payer.account
  const { order, payment } = await shop.orders.draft({
    amount: '12.50',
    primaryType: 'TransferWithAuthorization',
  })
  const { validAfter, validBefore, nonce } = payment.message
  const sent = await sign402(chain, payer, shop.seller, {
    authorization: {
      validAfter: String(validAfter),
      validBefore: String(validBefore),
      nonce,
    },
  })
  const { signature } = sent.paymentPayload.payload
  const accepted = await shop.orders.accept({
    orderId: order.id,
    payment: {
      ...payment,
      message: {
        ...payment.message,
        from: payer.address.toLowerCase(),
      },
      signature,
    },
  })
  expect(accepted.ok).toBe(true)
  expect(await shop.settle(sent)).toMatchObject({
    success: false,
    errorReason: used,
    transaction: '',
  })
  expect(await transfersTo(chain, shop.seller)).toBe(0)
  await shop.orders.close()
})

test('a day after its window a payment counts as answered, and its notes are removed', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay()
  const { payer: _, ...unheard } = await shop.pay()
  const { transaction } = await shop.settle(sent)
  const leaving = new AbortController()
  leaving.abort()
  await shop.ask('settle', bodyOf(unheard), 'one', leaving.signal)
  const countNotes = () =>
    shop.store.read(
      async ({ notes }) =>
        (await notes.find({ over: 2n ** 60n, limit: 10 })).length,
    )
  expect(await countNotes()).toBe(1)

  const clock = vi.spyOn(Date, 'now')
  clock.mockReturnValue(Date.now() + 2 * 86_400_000)
  expect(await shop.settle(sent)).toMatchObject({
    errorReason: used,
    transaction,
  })
  await expect.poll(countNotes).toBe(0)
  expect(await shop.settle(sent)).toMatchObject({
    errorReason: used,
    transaction,
  })
  expect(await shop.settle(unheard)).toMatchObject({ errorReason: used })
  clock.mockRestore()
  await shop.orders.close()
})
