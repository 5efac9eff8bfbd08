import { startDevChain } from 'countersign/devchain'
import { createX402Gate, type X402Offer } from 'countersign/x402'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { eventsOf, openShop } from '../../support/shop.js'
import { price, settlementOf, signFor } from '../../support/x402Desk.js'

/** Blocks and pre-confirmations only on demand. */
const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
afterAll(() => chain.stop())

const early: Partial<X402Offer> = {
  answerAt: 'preconfirmed',
  preconfirmedUpTo: '0.01',
}

async function openEarly(
  offer: Partial<X402Offer>,
  mostAtRisk = { total: '1000' },
) {
  const shop = await openShop(chain, { policy: { mostAtRisk } })
  const gate = createX402Gate({
    orders: shop.orders,
    offers: { work: { amount: '0.01', ...early, ...offer } },
  })
  return { ...shop, gate }
}

type EarlyShop = Awaited<ReturnType<typeof openEarly>>

/** A paid request, which can be sent again. */
async function payFor(
  { gate }: EarlyShop,
  handler: () => Response | Promise<Response> = () => new Response('the goods'),
): Promise<() => Promise<Response>> {
  const account = await fundedAccount(chain, price)
  const sold = gate.protect('work', handler)
  const url = 'https://shop.example/work'
  const header = await signFor(account, await sold(new Request(url)))
  return () =>
    sold(new Request(url, { headers: { 'PAYMENT-SIGNATURE': header } }))
}

const { tick, seal } = chain.preconfirmations

/** Does a step again and again until the work is done. */
async function during<result>(
  work: Promise<result>,
  step: () => Promise<unknown>,
): Promise<result> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await step()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return done
}

const sealAll = async () => {
  await tick()
  await seal()
}

const onlyOrder = async ({ orders }: EarlyShop) => {
  const [order] = (await orders.list()).orders
  if (!order) throw new Error('there is no order')
  return order
}

/** Waits until the order is captured. */
const settle = (shop: EarlyShop) =>
  during(
    onlyOrder(shop).then(({ id }) => shop.orders.capture({ orderId: id })),
    sealAll,
  )

test.each(['authorization', 'upfront'] as const)(
  'an offer of the flow %s that allows it is answered before a block has the capture, and the same again after it',
  async (flow) => {
    const shop = await openEarly({ flow })
    const send = await payFor(shop)
    const response = await during(send(), tick)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('the goods')
    const settled = settlementOf(response)
    const { state, preconfirmed } = await onlyOrder(shop)
    expect(state).toBe('capturing')
    expect(settled).toMatchObject({ success: true, transaction: preconfirmed })
    const again = await during(send(), tick)
    expect(settlementOf(again)).toEqual(settled)
    await settle(shop)
    const last = await during(send(), tick)
    expect(settlementOf(last)).toEqual(settled)
    expect(await last.text()).toBe('the goods')
    expect((await shop.orders.audit()).ok).toBe(true)
  },
)

test.each([
  ['of the offer', { mostAtRisk: '0.009' }, { total: '1' }],
  ['of all', {}, { total: '0.009' }],
  ['of the payment', { preconfirmedUpTo: '0.009' }, { total: '1' }],
])('above the limit %s, an answer waits for a block', async (_, offer, all) => {
  const shop = await openEarly(offer, all)
  const send = await payFor(shop)
  const answered = send()
  let isAnswered = false
  answered.finally(() => {
    isAnswered = true
  })
  const shown = async () => {
    while ((await shop.orders.list()).orders[0]?.preconfirmed === undefined)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await during(shown(), tick)
  expect(isAnswered).toBe(false)
  expect((await during(answered, sealAll)).status).toBe(200)
})

test('a failed work of the flow upfront raises its refund only once a block has the capture', async () => {
  const shop = await openEarly({ flow: 'upfront' })
  const send = await payFor(shop, () => new Response('', { status: 500 }))
  const answered = send()
  const { id } = await during(
    (async () => {
      for (;;) {
        const [order] = (await shop.orders.list()).orders
        if (order?.preconfirmed) return order
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })(),
    tick,
  )
  expect(await eventsOf(shop, id)).not.toContain('refundDue')
  expect((await during(answered, sealAll)).status).toBe(500)
  const events = await eventsOf(shop, id)
  expect(events.indexOf('refundDue')).toBeGreaterThan(
    events.indexOf('captured'),
  )
})

/** The pre-confirmed capture is dropped, and the payer cannot pay any more. */
async function lose(shop: EarlyShop): Promise<void> {
  const { payer } = await onlyOrder(shop)
  await chain.preconfirmations.dropPending()
  if (payer) await chain.block({ account: payer })
  lost.add(shop)
}

const lost = new WeakSet<EarlyShop>()

/** Shows the capture in the pending block, and makes blocks once it is lost. */
const afterLoss = <result>(
  shop: EarlyShop,
  answering: Promise<result>,
): Promise<result> =>
  during(answering, () => (lost.has(shop) ? sealAll() : tick()))

async function lossesOf(shop: EarlyShop) {
  const { id } = await onlyOrder(shop)
  const [sums] = (await shop.orders.health()).destinations
  return {
    atRisk: sums?.atRisk,
    unpaid: sums?.servedUnpaid,
    told: (await eventsOf(shop, id)).filter((one) => one === 'servedUnpaid')
      .length,
  }
}

const free = { atRisk: 0n, unpaid: 0n, told: 0 }

test.each([
  ['answers 500', () => new Response('', { status: 500 })],
  [
    'throws',
    () => {
      throw new Error('no work')
    },
  ],
])(
  'a handler that %s after its pre-confirmation was lost has served nothing',
  async (_, end) => {
    const shop = await openEarly({ flow: 'upfront' })
    const send = await payFor(shop, async () => {
      await lose(shop)
      return end()
    })
    const response = await afterLoss(shop, send())
    expect(response.status).toBe(402)
    expect(await lossesOf(shop)).toEqual(free)
  },
)

test('a handler that may run again after a failure leaves nothing at risk', async () => {
  const shop = await openEarly({ flow: 'upfront', afterFailure: 'keep' })
  const send = await payFor(shop, () => new Response('', { status: 500 }))
  expect((await during(send(), tick)).status).toBe(500)
  expect((await onlyOrder(shop)).state).toBe('capturing')
  expect(await lossesOf(shop)).toEqual(free)
  await settle(shop)
  expect(await lossesOf(shop)).toEqual(free)
})

test.each([
  ['an answer', {}],
  ['a stream', { stream: true }],
])(
  '%s that follows a lost pre-confirmation is reported once it is given, not before',
  async (_, more) => {
    const shop = await openEarly({ flow: 'upfront', ...more })
    const send = await payFor(shop, async () => {
      expect(await lossesOf(shop)).toEqual({ ...free, atRisk: 10_000n })
      await lose(shop)
      while ((await onlyOrder(shop)).state === 'capturing')
        await new Promise((resolve) => setTimeout(resolve, 20))
      expect(await lossesOf(shop)).toEqual(free)
      return new Response('the goods')
    })
    const response = await afterLoss(shop, send())
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('the goods')
    // What is given is on record soon after the client has read it.
    await expect
      .poll(() => lossesOf(shop), { timeout: 30_000 })
      .toEqual({ atRisk: 0n, unpaid: 10_000n, told: 1 })
  },
)

test('an offer that is answered early needs its limit, and that of the orders', async () => {
  const { orders } = await openShop(chain)
  const open = (offer: Partial<X402Offer>) => () =>
    createX402Gate({ orders, offers: { work: { amount: '1', ...offer } } })
  expect(open(early)).toThrow('policy.mostAtRisk')
  expect(open({ answerAt: 'preconfirmed' })).toThrow(
    'offers.work.preconfirmedUpTo',
  )
  expect(open({ mostAtRisk: '1' })).toThrow('offers.work.mostAtRisk')
})
