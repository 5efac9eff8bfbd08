import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { openShop, pay, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

async function openTwo() {
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const shop = await openShop(chain, { sellers })
  const [one, two] = sellers.map(({ address }) => address)
  if (!one || !two) throw new Error('two sellers')
  return { ...shop, one, two }
}

test('an order of another recipient is not there for any verb', async () => {
  const shop = await openTwo()
  const { id, signed } = await storedOrder(chain, shop, { recipient: shop.two })
  const own = shop.orders.within({ recipients: [shop.one] })
  const refused = [
    own.get({ orderId: id }),
    own.accept({ orderId: id, payment: signed }),
    own.capture({ orderId: id }),
    own.void({ orderId: id }),
    own.reauthorize({ orderId: id }),
    own.cancellationToSign({ orderId: id }),
    own.approveCancellation({ orderId: id }),
    own.events({ orderId: id }),
    own.getForBuyer({ orderId: id, buyerToken: 'x' }),
  ]
  for (const one of await Promise.allSettled(refused))
    expect(one).toMatchObject({ reason: { name: 'OrderNotFoundError' } })
  expect((await own.list()).orders).toEqual([])
  expect((await own.events()).events).toEqual([])
  expect((await shop.orders.get({ orderId: id })).state).toBe('stored')
})

test('health, audit and reconciliation are of the own recipients', async () => {
  const shop = await openTwo()
  const own = shop.orders.within({ recipients: [shop.one] })
  const mine = shop.one.toLowerCase()
  const health = await own.health()
  const { destinations: reconciled } = await own.reconcile()
  const { destinations: audited } = await own.audit()
  expect(health.submitters.map(({ account }) => account)).toEqual([mine])
  expect(health.destinations.map(({ recipient }) => recipient)).toEqual([mine])
  expect(reconciled.map(({ destination }) => destination.recipient)).toEqual([
    mine,
  ])
  expect(audited.map(({ destination }) => destination.recipient)).toEqual([
    mine,
  ])
})

test('a draft for another recipient, or for one that is none, is refused', async () => {
  const { orders, one, two } = await openTwo()
  const own = orders.within({ recipients: [one] })
  const { order } = await own.draft({ amount: '1' })
  expect(order.recipient).toBe(one.toLowerCase())
  await expect(
    own.draft({ amount: '1', recipient: two }),
  ).rejects.toMatchObject({ details: { field: 'recipient' } })
  const nobody = orders.within({ recipients: [] })
  await expect(nobody.draft({ amount: '1' })).rejects.toMatchObject({
    name: 'InvalidFieldError',
  })
  expect((await nobody.list()).orders).toEqual([])
  expect(() => orders.within({ recipients: ['0x1'] })).toThrow('recipients[0]')
})

test('what is captured within some recipients is captured', async () => {
  const shop = await openTwo()
  const { id } = await storedOrder(chain, shop, { recipient: shop.two })
  const own = shop.orders.within({ recipients: [shop.two] })
  expect(await own.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
})

test('a buyer sees the order, and the payment as long as it is to be signed', async () => {
  const shop = await openShop(chain)
  const { order, payment, buyerToken } = await shop.orders.draft({
    amount: '12.50',
  })
  const ask = { orderId: order.id, buyerToken }
  expect(await shop.orders.getForBuyer(ask)).toEqual({ order, payment })
  const buyer = await fundedAccount(chain, 12_500_000n)
  const signed = await pay(buyer, payment)
  await shop.orders.accept({ orderId: order.id, payment: signed })
  const stored = await shop.orders.getForBuyer(ask)
  expect(stored.payment).toBeUndefined()
  expect(stored.order.state).toBe('stored')
  const renewed = await shop.orders.reauthorize({
    orderId: order.id,
    window: 600n,
  })
  const again = await shop.orders.getForBuyer(ask)
  expect(renewed.ok && renewed.payment).toEqual(again.payment)
})

test('a wrong token is told as an order that does not exist', async () => {
  const shop = await openShop(chain)
  const { order, buyerToken } = await shop.orders.draft({ amount: '1' })
  const other = await shop.orders.draft({ amount: '1' })
  const orderId = order.id
  const wrong = [
    other.buyerToken,
    buyerToken.toUpperCase(),
    `${buyerToken} `,
    '',
    undefined as unknown as string,
  ]
  for (const one of wrong)
    await expect(
      shop.orders.getForBuyer({ orderId, buyerToken: one }),
    ).rejects.toMatchObject({
      name: 'OrderNotFoundError',
      message: `There is no order "${orderId}".`,
    })
})

test('the events of one order are read alone, from a cursor on', async () => {
  const shop = await openShop(chain)
  const { order } = await shop.orders.draft({ amount: '1' })
  await shop.orders.draft({ amount: '2' })
  await shop.orders.void({ orderId: order.id })
  const all = await shop.orders.events({ orderId: order.id })
  expect(all.events.map(({ type }) => type)).toEqual(['drafted', 'voided'])
  const [first] = all.events
  const rest = await shop.orders.events({
    orderId: order.id,
    after: first?.cursor,
  })
  expect(rest.events.map(({ type }) => type)).toEqual(['voided'])
  expect(rest.cursor).toBe(all.cursor)
})

test('the cursor of the present leads to what comes, and to nothing else', async () => {
  const shop = await openShop(chain)
  expect(await shop.orders.events({ after: 'latest' })).toEqual({
    events: [],
    cursor: 0n,
  })
  const { order } = await shop.orders.draft({ amount: '1' })
  const { cursor } = await shop.orders.events({ after: 'latest' })
  await shop.orders.void({ orderId: order.id })
  const { events } = await shop.orders.events({ after: cursor })
  expect(events.map(({ type }) => type)).toEqual(['voided'])
})
