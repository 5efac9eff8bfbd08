import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { isFull, seed } from '../../chain/support/chaos.js'
import { runSchedules } from '../../chain/support/faultRun.js'
import { putMulticall } from '../../chain/support/multicall3.js'

const chain = await startDevChain({ blockTime: 0 })
const other = await startDevChain({ blockTime: 0 })
await Promise.all([putMulticall(chain), putMulticall(other)])
// Time goes on whatever happens, and with it what is safe and final.
const clock = setInterval(
  () => chain.warp(3).catch(() => undefined),
  isFull ? 60 : 100,
)
afterAll(async () => {
  clearInterval(clock)
  await chain.stop()
  await other.stop()
})

const count = isFull ? 2_000 : 60

test(`${count} schedules of wrong answers cost no payment, seed ${seed}`, {
  timeout: isFull ? 3_600_000 : 900_000,
}, async () => {
  expect(await runSchedules(chain, other, { count, seed })).toEqual([])
})

const ofDelegated = isFull ? 2_000 : 30

test(`${ofDelegated} schedules of wrong answers cost no payment of recipients that delegate, seed ${seed}`, {
  timeout: isFull ? 3_600_000 : 900_000,
}, async () => {
  const options = { count: ofDelegated, seed, isDelegated: true }
  expect(await runSchedules(chain, other, options)).toEqual([])
})
