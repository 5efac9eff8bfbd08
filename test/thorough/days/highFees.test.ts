// The first time, all that was in its window was captured once and the rest
// expired, with its events; `health` showed the price of gas and did not say that
// anything waited for it.
import { type DevChain, startDevChain } from 'countersign/devchain'
import { getBlock } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFull, seed, startChance } from '../../chain/support/chaos.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { openLedgerShop, sell } from '../../chain/support/ledgerShop.js'
import { eventually } from '../../unit/support/webhooksRun.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, token: 'usdc' })
})
afterAll(() => chain.stop())

const [usual, high] = [10n ** 9n, 10n ** 11n]

/** Between what a capture costs at usual and at high fees. */
const maxFee = 2n * 10n ** 15n

const schedules = isFull ? 50 : 2

test(`while fees are above the cap for hours nothing is sent; then all that is open is captured once (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = startChance(3)
  for (let schedule = 0; schedule < schedules; schedule++)
    await runHighFees(random)
})

async function runHighFees(random: () => number): Promise<void> {
  const { test: control, public: reader } = chain.clients
  let baseFeePerGas = usual
  const advance = async (seconds: number) => {
    await control.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await chain.warp(seconds)
  }
  const policy = { capture: 'onAccept', maxFee, pollingInterval: 50 } as const
  const shop = await openLedgerShop(chain, { policy })
  const { store, account, orders } = shop
  const second = await openLedgerShop(chain, { policy, store, account })
  const ending = new AbortController()
  const { signal } = ending
  const running = [orders.run({ signal }), second.orders.run({ signal })]
  const stateOf = async (orderId: string) =>
    (await orders.get({ orderId })).state

  await advance(1)
  await sell(shop, 'early')
  await eventually(() => stateOf('early')).toBe('captured')
  // In the pool when the fees rise, and too cheap from then on.
  await control.setAutomine(false)
  await sell(shop, 'pooled', '12.50', { window: 40_000n })
  await eventually(() => stateOf('pooled')).toBe('capturing')
  baseFeePerGas = high
  await advance(1)
  await control.setAutomine(true)
  const refund = { orderId: 'early', refundId: 'one', amount: '2.50' }
  await orders.refund(refund)

  const ids: string[] = []
  for (let hour = 0; hour < 6; hour += 0.5) {
    await advance(1_800)
    await control.setNextBlockBaseFeePerGas({ baseFeePerGas })
    const orderId = `hour ${hour}`
    if (random() < 0.3) continue
    const window = random() < 0.5 ? 3_600n : 40_000n
    await sell(shop, orderId, '12.50', { window })
    ids.push(orderId)
    await control.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await eventually(async () => {
      await control.setNextBlockBaseFeePerGas({ baseFeePerGas })
      return (await orders.get({ orderId })).reason
    }).toBe('feeTooHigh')
  }
  const sent = await store.read(({ transactions }) =>
    transactions.find({ orderIds: ids }),
  )
  expect(sent).toEqual([])
  const { submitters } = await orders.health()
  const waiting = await orders.list({ states: ['stored'], limit: 200 })
  // The refund waits too, and what is about to expire is not tried again.
  expect(submitters[0]?.feeTooHigh).toBeGreaterThan(0)
  expect(submitters[0]?.feeTooHigh).toBeLessThanOrEqual(
    waiting.orders.length + 1,
  )

  baseFeePerGas = usual
  await advance(1)
  const { timestamp } = await getBlock(reader)
  const wanted = await Promise.all(
    ids.map(async (orderId) => {
      const { validBefore } = await orders.get({ orderId })
      return validBefore > timestamp ? 'captured' : 'expired'
    }),
  )
  await eventually(async () => {
    await advance(3)
    return Promise.all([...ids, 'pooled'].map(stateOf))
  }).toEqual([...wanted, 'captured'])
  // Its window ended meanwhile: it failed for a reason, and is requested again.
  await eventually(async () => {
    await advance(3)
    const { refunds } = await orders.get({ orderId: 'early' })
    return refunds.map(({ state, reserved }) => [state, reserved])
  }).toEqual([['failed', false]])
  expect(await orders.refund(refund)).toMatchObject({ ok: true })
  await eventually(async () => {
    await advance(3)
    return (await orders.get({ orderId: 'early' })).refunded
  }).toBe(2_500_000n)
  ending.abort()
  await Promise.all(running)

  await orders.reconcile()
  const { ok } = await orders.audit()
  expect([ok, await findBookProblems(chain, orders)]).toEqual([true, []])
  const { events } = await orders.events({ limit: 1_000 })
  for (const [at, orderId] of ids.entries())
    expect(
      events.flatMap((one) => (one.orderId === orderId ? [one.type] : [])),
    ).toContain(wanted[at])
  expect((await orders.health()).submitters[0]?.feeTooHigh).toBe(0)
  const types = events.map(({ type }) => type)
  for (const alarm of ['overpaid', 'refundDue', 'consumed', 'submitterShared'])
    expect(types).not.toContain(alarm)
  await Promise.all([orders.close(), second.orders.close()])
}
