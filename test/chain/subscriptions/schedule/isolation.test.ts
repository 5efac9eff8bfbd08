import type { Observation } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startSilentNode } from '../../support/silentNode.js'
import {
  chargesOf,
  openSubscriptionShop,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 20_000 }

/** A second token, which nothing but its node is asked about. */
const otherToken = '0x00000000000000000000000000000000000000aa'

/** Runs the schedules until the test ends them. */
function runSchedules({ subscriptions }: SubscriptionShop) {
  const stop = new AbortController()
  const ended = subscriptions.run({ signal: stop.signal })
  onTestFinished(() => stop.abort())
  return {
    end: async () => {
      stop.abort()
      await ended
    },
  }
}

/** Most tries in a time if the pauses of 100 ms and more double. */
const mostTries = (milliseconds: number) =>
  2 + Math.ceil(Math.log2(milliseconds / 100 + 1))

/** Observes failures of schedules, and the time since the first one. */
function watchFailures() {
  const failures: Observation['attributes'][] = []
  let first = 0
  const observe = ({ name, attributes }: Observation) => {
    if (name !== 'schedule.failed') return
    first ||= performance.now()
    failures.push(attributes)
  }
  return { failures, observe, elapsed: () => performance.now() - first }
}

test('a node that never answers holds up the schedules of no other destination, nor the end of run', async () => {
  const node = await startSilentNode(chain.urls.http)
  const client = createReadClient({
    chain: chain.chain,
    url: node.url,
    timeout: 600_000,
  })
  const shop = await openSubscriptionShop(chain, {
    changes: { tokens: [{ client, token: otherToken }] },
  })
  node.silence(() => true)
  const running = runSchedules(shop)
  await expect.poll(node.waiting, patience).toBeGreaterThan(0)
  const { id } = await shop.subscribe({ token: chain.token })
  await expect
    .poll(() => chargesOf(shop, id), patience)
    .toMatchObject([['period-1', 'stored', 10_000_000n]])
  await running.end()
})

test('a subscription that fails is tried after growing pauses, and shown by health until it works', async () => {
  const { failures, observe, elapsed } = watchFailures()
  const shop = await openSubscriptionShop(chain, { changes: { observe } })
  const { id } = await shop.subscribe()
  const { id: other } = await shop.subscribe()
  const setSignature = (signature: string | undefined) =>
    shop.store.write(async ({ attempts }) => {
      const [attempt] = await attempts.find({ orderIds: [id] })
      if (!attempt) throw new Error('no attempt')
      await attempts.update([{ ...attempt, signature }])
      return attempt.signature
    })
  const signature = await setSignature('broken')
  const shown = async () => {
    const { destinations } = await shop.orders.health()
    return destinations.flatMap(({ putAside }) =>
      putAside.map(({ what }) => what),
    )
  }
  const running = runSchedules(shop)
  await expect.poll(shown, patience).toEqual([id])
  await expect.poll(elapsed, patience).toBeGreaterThan(3000)
  const count = failures.length
  expect(count).toBeLessThanOrEqual(mostTries(elapsed()))
  expect(await chargesOf(shop, other)).toHaveLength(1)
  await setSignature(signature)
  await expect.poll(() => chargesOf(shop, id), patience).toHaveLength(1)
  await expect.poll(shown, patience).toEqual([])
  await running.end()
})
