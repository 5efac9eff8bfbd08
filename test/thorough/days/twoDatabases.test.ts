// The first time, each side captured, refunded and charged its own once, counted
// the rest as unmatched and reported each of those once, `submitterShared` too.
import type { OrderEvent, Orders } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { seed, sqliteFile, startChance } from '../../chain/support/chaos.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { liveBesideAnother } from '../../chain/support/lossShop.js'
import { startSubscriptionChain } from '../../chain/support/subscriptionShop.js'

const chain = await startSubscriptionChain(0.3)
afterAll(() => chain.stop())

test(`two databases for one recipient count what is their own, and report once what the other was paid (seed ${seed})`, async () => {
  const stores = [sqliteFile().store, sqliteFile().store]
  const sides = await liveBesideAnother(chain, startChance(2_000), stores)
  const paid = await Promise.all(sides.map(({ shop }) => findPaid(shop.orders)))
  for (const [at, { shop }] of sides.entries()) {
    const [own = [], others = []] = [paid[at], paid[1 - at]]
    // What was reported before is not reported again.
    await shop.orders.reconcile()
    const events = await eventsOf(shop.orders)
    const reported = events.flatMap(({ type, data }) =>
      type === 'unmatched' ? [Object(data).transactionHash] : [],
    )
    expect(reported.sort()).toEqual([...others].sort())
    const counts = {
      chain: { count: own.length + others.length },
      captured: { count: own.length },
      unmatched: { count: others.length },
    }
    expect(await shop.orders.audit()).toMatchObject({
      ok: true,
      destinations: [{ ...counts, differences: [] }],
    })
    const types = events.map(({ type }) => type)
    for (const alarm of ['overpaid', 'refundDue', 'consumed', 'expired'])
      expect(types).not.toContain(alarm)
    expect(await findBookProblems(chain, shop.orders)).toEqual([])
  }
})

async function eventsOf(orders: Orders): Promise<OrderEvent[]> {
  return (await orders.events({ limit: 1_000 })).events as OrderEvent[]
}

/** The transactions that paid orders and charges on record. */
async function findPaid(orders: Orders): Promise<string[]> {
  const events = await eventsOf(orders)
  return events.flatMap(({ type, data }) =>
    type === 'captured' ? [Object(data).transactionHash] : [],
  )
}
