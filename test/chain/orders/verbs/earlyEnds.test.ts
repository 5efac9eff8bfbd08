import { startDevChain } from 'countersign/devchain'
import type { CreateOrdersParameters } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { revoke } from '../../support/desk.js'
import {
  eventsOf,
  openShop,
  pay,
  type Shop,
  setOrder,
  storedOrder,
} from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

type Policy = NonNullable<CreateOrdersParameters['policy']>
type Relay = Policy['relayCancellations']

/** A shop that sends nothing, so that what is asked for stays asked for. */
async function openSuspended(relayCancellations: Relay): Promise<Shop> {
  const shop = await openShop(chain, {
    policy: { mostAtRisk: { total: '12.5' }, relayCancellations },
  })
  await shop.orders.suspend()
  return shop
}

type Sold = Awaited<ReturnType<typeof storedOrder>>

const cancel = async ({ orders }: Shop, { id, buyer, signed }: Sold) =>
  orders.acceptCancellation({
    orderId: id,
    cancellation: await revoke(chain, signed, buyer),
  })

/** A capture that may be answered early, and is not sent. */
async function reserve({ orders }: Shop, { id }: Sold): Promise<void> {
  const result = await orders.capture({
    orderId: id,
    timeout: 0,
    answerAt: 'preconfirmed',
    preconfirmedUpTo: '12.5',
  })
  expect(result.status).toBe('unknown')
}

async function sums({ orders }: Shop) {
  const [{ atRisk, servedUnpaid } = {}] = (await orders.health()).destinations
  return { atRisk, servedUnpaid }
}

const ends: [string, Relay, (shop: Shop, sold: Sold) => Promise<unknown>][] = [
  ['void', 'onApproval', ({ orders }, { id }) => orders.void({ orderId: id })],
  ['the buyer’s cancellation, which is not sent', 'onApproval', cancel],
  ['the buyer’s cancellation, which will be sent', 'always', cancel],
]

test.each(ends)(
  'an early answer that was only reserved is released by %s',
  async (_, relays, end) => {
    const shop = await openSuspended(relays)
    const sold = await storedOrder(chain, shop)
    await reserve(shop, sold)
    expect(await sums(shop)).toEqual({ atRisk: 12_500_000n, servedUnpaid: 0n })
    expect(await end(shop, sold)).toMatchObject({ ok: true })
    expect(await sums(shop)).toEqual({ atRisk: 0n, servedUnpaid: 0n })
    expect(await eventsOf(shop, sold.id)).not.toContain('servedUnpaid')
  },
)

test.each(ends)(
  'an early answer that was given, and whose capture is to be sent again, is reported at once as unpaid by %s',
  async (_, relays, end) => {
    const shop = await openSuspended(relays)
    const sold = await storedOrder(chain, shop)
    await reserve(shop, sold)
    await setOrder(shop, sold.id, { early: 'answered' })
    expect(await end(shop, sold)).toMatchObject({ ok: true })
    expect(await sums(shop)).toEqual({ atRisk: 0n, servedUnpaid: 12_500_000n })
    expect((await eventsOf(shop, sold.id)).at(-1)).toBe('servedUnpaid')
  },
)

test.each(ends)(
  'an order under review holds up no later order of its payer once it is ended by %s',
  async (_, relays, end) => {
    const shop = await openSuspended(relays)
    const { orders } = shop
    const sold = await storedOrder(chain, shop)
    await setOrder(shop, sold.id, { needsReview: true, sendDue: undefined })
    expect(await end(shop, sold)).toMatchObject({ ok: true })
    expect((await orders.get({ orderId: sold.id })).needsReview).toBe(false)
    await chain.mint({ to: sold.buyer.address, value: 12_500_000n })
    const { order, payment } = await orders.draft({ amount: '12.50' })
    const signed = await pay(sold.buyer, payment)
    const verdict = await orders.accept({ orderId: order.id, payment: signed })
    expect(verdict).toMatchObject({ ok: true, order: { needsReview: false } })
  },
)
