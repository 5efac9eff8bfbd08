import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fakeNode } from '../../support/desk.js'
import { chainTime } from '../../support/permissionDesk.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

/** Runs the schedules alone, which look again only if they are woken. */
async function runQuietly() {
  const node = fakeNode(chain)
  const shop = await openSubscriptionShop(chain, {
    changes: {
      client: node.client,
      policy: { pollingInterval: 20, quietInterval: 600_000 },
    },
  })
  const stop = new AbortController()
  const ended = shop.subscriptions.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  await expect.poll(() => node.asked.length, patience).toBeGreaterThan(0)
  return { shop, node }
}

test('a subscription that starts in a quiet loop is charged at once', async () => {
  const { shop } = await runQuietly()
  const { id } = await shop.subscribe()
  await expect.poll(() => chargesOf(shop, id), patience).toHaveLength(1)
})

test('until the next subscription is due, the loop asks the node nothing', async () => {
  const { shop, node } = await runQuietly()
  const start = (await chainTime(chain)) + period
  const { id } = await shop.subscribe({ start })
  const dueOf = async () => {
    const ids = [id]
    const [row] = await shop.store.read((it) => it.subscriptions.find({ ids }))
    return row?.due
  }
  await expect.poll(dueOf, patience).toBe(start)
  const before = node.asked.length
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(node.asked.length).toBe(before)
  await pass(chain, period)
  // Wakes the loop, which would notice the moved clock only after its pause.
  const { id: other } = await shop.subscribe()
  for (const one of [id, other])
    await expect.poll(() => chargesOf(shop, one), patience).toHaveLength(1)
})
