import { deployDevToken, startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { keccak256, stringToHex } from 'viem'
import { getBlock } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { domainOf, fundedAccount, newAccount } from '../../support/desk.js'
import { eventsOf, openShop, rowsOf, setOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const shop = await openShop(chain)
const { orders, seller } = shop
const stranger = newAccount().address

const now = async () => (await getBlock(chain.clients.public)).timestamp

test('a draft fixes everything but who pays', async () => {
  const { order, payment, buyerToken } = await orders.draft({
    orderId: 'order-1',
    amount: '12.50',
    metadata: { goods: ['tea', 2], gift: null },
  })
  const time = await now()
  expect(order).toEqual({
    id: 'order-1',
    chainId: 31337,
    token: chain.token,
    recipient: seller,
    state: 'drafted',
    attempt: 1,
    nonce: payment.message.nonce,
    payer: undefined,
    kind: 'eip3009',
    amount: '12.5',
    atMost: undefined,
    value: 12_500_000n,
    primaryType: 'ReceiveWithAuthorization',
    validAfter: time - 60n,
    validBefore: time + 900n,
    spendableUntil: undefined,
    requested: undefined,
    reason: undefined,
    needsReview: false,
    unexpected: false,
    overpaid: false,
    metadata: { goods: ['tea', 2], gift: null },
    createdAt: time,
    capture: undefined,
    cancellation: undefined,
    refunds: [],
    refunded: 0n,
    refundable: 0n,
  })
  expect(payment).toEqual({
    primaryType: 'ReceiveWithAuthorization',
    domain: domainOf(chain.token),
    message: {
      to: seller,
      value: 12_500_000n,
      validAfter: order.validAfter,
      validBefore: order.validBefore,
      nonce: expect.stringMatching(/^0x[\da-f]{64}$/),
    },
  })
  const kept = await rowsOf(shop, 'order-1')
  expect(kept.order.buyerTokenHash).toBe(keccak256(stringToHex(buyerToken)))
  expect(await eventsOf(shop, 'order-1')).toEqual(['drafted'])
})

test('the buyer’s token is on record by its hash alone', async () => {
  const { order, buyerToken } = await orders.draft({ amount: '1' })
  const kept = await rowsOf(shop, order.id)
  const events = await orders.events({ limit: 1_000 })
  const text = JSON.stringify([kept, events], (_, it) =>
    typeof it === 'bigint' ? String(it) : it,
  )
  expect(text).toContain(kept.order.buyerTokenHash)
  expect(text).not.toContain(buyerToken)
})

test('payer, window and type are as they are asked for', async () => {
  const { order, payment } = await orders.draft({
    amount: '1',
    payer: stranger,
    window: 60n,
    primaryType: 'TransferWithAuthorization',
  })
  const from = stranger.toLowerCase()
  expect(order).toMatchObject({ payer: from, validBefore: (await now()) + 60n })
  expect(payment).toMatchObject({
    primaryType: 'TransferWithAuthorization',
    message: { from },
  })
})

test('amounts are in the token’s own decimals', async () => {
  const token = await deployDevToken(chain, { decimals: 18 })
  const shop = await openShop(chain, { tokens: [token] })
  const { order } = await shop.orders.draft({ token, amount: '0.000000001' })
  expect(order).toMatchObject({ value: 10n ** 9n, amount: '0.000000001' })
})

type Draft = Parameters<Orders['draft']>[0]

test.each<[string, object]>([
  ['orderId', { orderId: '' }],
  ['orderId', { orderId: 'x'.repeat(129) }],
  ['orderId', { orderId: 'one\ntwo' }],
  ['orderId', { orderId: 'half \ud800' }],
  ['amount', { amount: '1.0000001' }],
  ['amount', { amount: 1 }],
  ['amount', { amount: '0' }],
  ['window', { window: 0n }],
  ['window', { window: 20n }],
  ['window', { window: 86_401n }],
  ['window', { window: 60 }],
  ['token', { token: stranger }],
  ['token', { token: '0x12' }],
  ['chainId', { chainId: 1 }],
  ['recipient', { recipient: stranger }],
  ['payer', { payer: seller }],
  ['payer', { payer: 'me' }],
  ['primaryType', { primaryType: 'CancelAuthorization' }],
  ['metadata', { metadata: { big: 1n } }],
  ['metadata', { metadata: { text: 'x'.repeat(8_200) } }],
  ['metadata', { metadata: ['a list'] }],
])('a malformed %s is refused: %o', async (field, changes) => {
  const error = await orders
    .draft({ amount: '1', ...changes } as Draft)
    .catch((error) => error)
  expect(error.name).toMatch(/^Invalid(Field|Amount)Error$/)
  expect(error.details.field ?? 'amount').toBe(field)
})

test('the same draft again is the same order, for a new token alone', async () => {
  const draft = { orderId: 'again', amount: '2', metadata: { a: 1, b: [2] } }
  const first = await orders.draft(draft)
  const again = await orders.draft({ ...draft, metadata: { b: [2], a: 1 } })
  expect(again).toEqual({ ...first, buyerToken: expect.any(String) })
  expect(again.buyerToken).not.toBe(first.buyerToken)
  const { order } = await rowsOf(shop, 'again')
  expect(order.buyerTokenHash).toBe(keccak256(stringToHex(again.buyerToken)))
  expect(await eventsOf(shop, 'again')).toEqual(['drafted'])
})

test.each<[string, object]>([
  ['amount', { amount: '3' }],
  ['window', { window: 899n }],
  ['payer', { payer: stranger }],
  ['metadata', { metadata: { a: 2 } }],
  ['type', { primaryType: 'TransferWithAuthorization' }],
])('an id in use with another %s is refused', async (what, changes) => {
  const draft = { orderId: `used ${what}`, amount: '2' }
  await orders.draft(draft)
  await expect(
    orders.draft({ ...draft, ...changes } as Draft),
  ).rejects.toMatchObject({ details: { field: 'orderId' } })
})

test('an id of an order that was paid is refused', async () => {
  const draft = { orderId: 'paid', amount: '2' }
  await orders.draft(draft)
  await setOrder(shop, 'paid', { state: 'stored' })
  await expect(orders.draft(draft)).rejects.toMatchObject({
    details: { field: 'orderId', value: '"paid"' },
  })
})

test('one id drafted many times at once is one order', async () => {
  const draft = { orderId: 'at once', amount: '2' }
  const all = await Promise.all(
    Array.from({ length: 10 }, () => orders.draft(draft)),
  )
  expect(new Set(all.map(({ order }) => order.nonce)).size).toBe(1)
  expect(await eventsOf(shop, 'at once')).toEqual(['drafted'])
})

test('of several tokens or recipients one has to be named', async () => {
  const token = await deployDevToken(chain)
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const shop = await openShop(chain, { tokens: [token], sellers })
  const draft = (changes: object) =>
    shop.orders.draft({ amount: '1', ...changes })
  await expect(draft({})).rejects.toMatchObject({ details: { field: 'token' } })
  await expect(draft({ token })).rejects.toMatchObject({
    details: { field: 'recipient' },
  })
  const recipient = sellers[1]?.address
  const { order } = await draft({ token, recipient })
  expect(order).toMatchObject({ token, recipient: recipient?.toLowerCase() })
  expect((await rowsOf(shop, order.id)).order.submitter).toBe(order.recipient)
})

test('a recipient without a wallet is paid by Transfer alone', async () => {
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const relayers = sellers.map(({ address }) => address)
  const recipients = [stranger]
  const shop = await openShop(chain, { sellers, recipients, relayers })
  const draft = { recipient: stranger, amount: '1' }
  await expect(shop.orders.draft(draft)).rejects.toMatchObject({
    details: { field: 'recipient' },
  })
  const submitters = new Set<string>()
  for (const orderId of Array.from({ length: 20 }, (_, at) => `shared ${at}`)) {
    const primaryType = 'TransferWithAuthorization'
    await shop.orders.draft({ ...draft, orderId, primaryType })
    submitters.add((await rowsOf(shop, orderId)).order.submitter)
  }
  expect([...submitters].sort()).toEqual(
    sellers.map(({ address }) => address.toLowerCase()).sort(),
  )
})

test('what shops of one store do not share they do not see', async () => {
  const store = memoryStore()
  const [mine, other] = [
    await openShop(chain, { store }),
    await openShop(chain, { store }),
  ]
  const { order } = await mine.orders.draft({ orderId: 'mine', amount: '1' })
  const orderId = order.id
  const gone = { name: 'OrderNotFoundError', details: { orderId } }
  await expect(other.orders.get({ orderId })).rejects.toMatchObject(gone)
  await expect(other.orders.void({ orderId })).rejects.toMatchObject(gone)
  await expect(other.orders.reauthorize({ orderId })).rejects.toMatchObject(
    gone,
  )
  await expect(
    other.orders.approveCancellation({ orderId }),
  ).rejects.toMatchObject(gone)
  await expect(
    other.orders.cancellationToSign({ orderId }),
  ).rejects.toMatchObject(gone)
  await expect(
    other.orders.draft({ orderId, amount: '1' }),
  ).rejects.toMatchObject({ details: { field: 'orderId' } })
  expect(await other.orders.list()).toEqual({ orders: [], cursor: undefined })
  expect(await other.orders.events()).toEqual({ events: [], cursor: 0n })
  expect((await mine.orders.list()).orders).toEqual([order])
})

test('an order that is not there is not found', async () => {
  await expect(orders.get({ orderId: 'none' })).rejects.toMatchObject({
    name: 'OrderNotFoundError',
    message: 'There is no order "none".',
  })
})
