import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { wait } from '../../../src/core/wait.js'
import { runWebhooksWith } from '../../../src/webhooks/runWebhooks.js'
import { checkTold } from '../../unit/support/webhooksChecks.js'
import {
  type Receiver,
  startReceiver,
} from '../../unit/support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  quickTools,
} from '../../unit/support/webhooksRun.js'
import { isFull, seed, startChance } from '../support/chaos.js'
import { findBookProblems } from '../support/hardTimes.js'
import { openLedgerShop, sell } from '../support/ledgerShop.js'

const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
afterAll(() => chain.stop())

const sold = isFull ? 100 : 12

/** Milliseconds that a target has to answer. */
const timeout = 300

test(`a target that is slow for hours delays no other target and no order, and gets everything afterwards (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = startChance(5)
  const policy = { capture: 'onAccept', pollingInterval: 50 } as const
  const shop = await openLedgerShop(chain, { policy })
  const { orders, store } = shop
  let isSlow = true
  // It takes some of them, and says so after nobody listens any more.
  const slow = await startReceiver(async (response) => {
    if (isSlow && random() < 0.5) return
    if (isSlow) await wait(2 * timeout)
    response.writeHead(204).end()
  })
  const healthy = [await startReceiver(), await startReceiver()]
  const seen: Observation[] = []
  const ending = new AbortController()
  const { signal } = ending
  const targets = [slow, ...healthy].map(({ url, ca }, at) => ({
    name: at === 0 ? 'slow' : `healthy-${at}`,
    url,
    ca,
    secrets: [createSecret()],
    privateHosts: ['localhost'],
  }))
  const running = Promise.all([
    orders.run({ signal }),
    runWebhooksWith(
      orders,
      { store, targets, signal, observe: (it) => seen.push(it) },
      { ...quickTools, timeout, lease: 3_000 },
    ),
  ])
  const ids: string[] = []
  for (let at = 0; at < sold; at++)
    ids.push((await sell(shop, `order ${at}`)).orderId)
  const allOver = async () => {
    await chain.warp(3)
    const { orders: all } = await orders.list({ limit: 200 })
    return all.every(({ capture }) => capture?.finality === 'finalized')
  }
  await eventually(allOver).toBe(true)
  const told = async () => (await orders.events({ limit: 1_000 })).events.length
  // All the time that the slow one had has brought it nothing.
  for (const one of healthy)
    await eventually(async () => idsOf(one).size - (await told())).toBe(0)
  for (const one of healthy) checkTold(one)
  const delivered = () =>
    seen.filter(
      ({ name, attributes }) =>
        name === 'webhook.delivered' && attributes.target === 'slow',
    ).length
  expect(delivered()).toBe(0)
  await eventually(() => seen).toContainEqual(
    expect.objectContaining({
      name: 'webhook.failed',
      attributes: expect.objectContaining({
        target: 'slow',
        reason: 'timedOut',
      }),
    }),
  )

  isSlow = false
  await eventually(async () => delivered() - (await told())).toBe(0)
  expect(idsOf(slow)).toEqual(idsOf(healthy[0]))
  checkTold(slow)
  ending.abort()
  await running

  await orders.reconcile()
  expect((await orders.audit()).ok).toBe(true)
  expect(await findBookProblems(chain, orders)).toEqual([])
  const { counts } = (await orders.health()).destinations[0] ?? {}
  expect(counts).toEqual({ captured: sold })
  await orders.close()
})

function idsOf(receiver: Receiver | undefined): Set<string> {
  const { received = [] } = receiver ?? {}
  return new Set(received.map(({ headers }) => String(headers['webhook-id'])))
}
