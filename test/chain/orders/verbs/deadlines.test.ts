import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import {
  openShop,
  pay,
  rowsOf,
  type Shop,
  storedOrder,
} from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

/** Runs a worker until the work is done, and then stops it. */
async function runDuring(
  { orders }: Shop,
  work: () => Promise<unknown>,
): Promise<void> {
  const stop = new AbortController()
  const run = orders.run({ signal: stop.signal })
  try {
    await work()
  } finally {
    stop.abort()
    await run
  }
}

test('until a renewed payment is signed, the one that is held says when it ends', async () => {
  const shop = await openShop(chain)
  const { orders } = shop
  const { id, signed } = await storedOrder(chain, shop, { window: 400n })
  const { validBefore } = signed.message
  await orders.reauthorize({ orderId: id, window: 9_000n })
  await chain.warp(101)
  const told = async () => {
    const { events } = await orders.events({ orderId: id })
    return events.filter(({ type }) => type === 'deadlineNear')
  }
  await runDuring(shop, () => expect.poll(told).toHaveLength(1))
  expect(await told()).toMatchObject([
    { data: { deadline: String(validBefore) } },
  ])
})

test('what ends first is sent first, whatever was offered since', async () => {
  const shop = await openShop(chain, { policy: { maxInFlight: 1 } })
  const { orders } = shop
  const later = await storedOrder(chain, shop, { window: 3_000n })
  const sooner = await storedOrder(chain, shop, { window: 300n })
  const soonest = await storedOrder(chain, shop, { window: 200n })
  await orders.reauthorize({ orderId: soonest.id, window: 80_000n })
  const results = await Promise.all(
    [soonest, sooner, later].map(({ id }) => orders.capture({ orderId: id })),
  )
  const blocks = results.map((result) =>
    result.status === 'captured' ? Number(result.proof.blockNumber) : 0,
  )
  expect(blocks).toEqual([...blocks].sort((one, other) => one - other))
  expect(new Set(blocks).size).toBe(3)
})

test('a signature for the new window moves the end of the order', async () => {
  const shop = await openShop(chain)
  const { orders } = shop
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const held = signed.message.validBefore
  const renewed = await orders.reauthorize({ orderId: id, window: 5_000n })
  if (!renewed.ok) throw new Error(renewed.reason)
  expect((await rowsOf(shop, id)).order.deadline).toBe(held)
  const payment = await pay(buyer, renewed.payment)
  expect(await orders.accept({ orderId: id, payment })).toMatchObject({
    ok: true,
  })
  const { deadline, lookDue } = (await rowsOf(shop, id)).order
  expect(deadline).toBe(payment.message.validBefore)
  expect(lookDue).toBe(deadline - 300n)
})
