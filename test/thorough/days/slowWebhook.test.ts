// The first time, nothing waited for it: the healthy targets and the orders went
// on, and it got everything once it answered.
import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { getWebhookLag } from 'countersign/webhooks'
import { afterAll, expect, test } from 'vitest'
import {
  runWebhooksWith,
  webhookTools,
} from '../../../src/webhooks/runWebhooks.js'
import { isFull } from '../../chain/support/chaos.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { openLedgerShop, sell } from '../../chain/support/ledgerShop.js'
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

const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
afterAll(() => chain.stop())

const sold = isFull ? 100 : 12

/** Milliseconds that a target has to answer here. */
const timeout = 300

/** Milliseconds between two tries of a target that fails for long, at most. */
const longestPause = 300_000

/** How often a target that holds every request is tried in five hours. */
const tries = (5 * 3_600_000) / (webhookTools.timeout + longestPause)

/** Most requests to one target at a time: for orders, and for other events. */
const mostHeld = 8 + 1

test('a target that holds every request for hours delays no other target and no order, and gets everything afterwards', {
  timeout: 600_000,
}, async () => {
  const policy = { capture: 'onAccept', pollingInterval: 50 } as const
  const shop = await openLedgerShop(chain, { policy })
  const { orders, store } = shop
  let isSlow = true
  let held = 0
  let heldAtOnce = 0
  const slow = await startReceiver((response) => {
    if (!isSlow) {
      response.writeHead(204).end()
      return
    }
    held++
    heldAtOnce = Math.max(heldAtOnce, held)
    response.on('close', () => {
      held--
    })
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
  const told = async () => (await orders.events({ limit: 1_000 })).events.length
  for (let at = 1; at <= sold; at++) {
    await sell(shop, `order ${at}`)
    await eventually(async () => {
      await chain.warp(3)
      const { orders: all } = await orders.list({ limit: 200 })
      return all.every(({ capture }) => capture?.finality === 'finalized')
    }).toBe(true)
    // All that happened is with them, and nothing with the slow one.
    for (const one of healthy)
      await eventually(async () => idsOf(one).size - (await told())).toBe(0)
    await eventually(() => slow.received.length).toBeGreaterThan(
      (tries * at) / sold,
    )
  }
  for (const one of healthy) checkTold(one)
  expect(heldAtOnce).toBeLessThanOrEqual(mostHeld)
  expect(await getWebhookLag(orders, { store, target: 'slow' })).toMatchObject({
    cursor: 0n,
    waitingSince: expect.any(BigInt),
    lastFailure: { reason: 'timedOut' },
  })
  for (const target of ['healthy-1', 'healthy-2'])
    await eventually(() =>
      getWebhookLag(orders, { store, target }),
    ).toMatchObject({ waitingSince: undefined })
  const delivered = () =>
    seen.filter(
      ({ name, attributes }) =>
        name === 'webhook.delivered' && attributes.target === 'slow',
    ).length
  expect(delivered()).toBe(0)
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
