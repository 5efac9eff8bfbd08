import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { isFull, seed } from '../../chain/support/chaos.js'
import { runSchedules } from '../../chain/support/faultRun.js'

const [chain, other] = await Promise.all([
  startDevChain({ blockTime: 0, token: 'usdc' }),
  startDevChain({ blockTime: 0, token: 'usdc' }),
])
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

const count = isFull ? 2_000 : 10

test(`${count} schedules of wrong answers cost no payment in Circle's own token, seed ${seed}`, {
  timeout: isFull ? 3_600_000 : 900_000,
}, async () => {
  expect(await runSchedules(chain, other, { count, seed })).toEqual([])
})
