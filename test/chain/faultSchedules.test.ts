import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { isFull, seed } from './chaos.js'
import type { Fault } from './faultNode.js'
import { drawFaults, runFaults } from './faultRun.js'

const chain = await startDevChain({ blockTime: 0 })
const other = await startDevChain({ blockTime: 0 })
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

/** One schedule to play again, as a failure prints it: a list of faults. */
const again = process.env.COUNTERSIGN_FAULTS

const count = again ? 1 : isFull ? 2_000 : 60

/** Schedules that run at the same time: they wait more than they compute. */
const together = 4

/** Looks within which everything has to be over once the node is right again. */
const mostLooks = 1_500

test(`${count} schedules of wrong answers cost no payment, seed ${seed}`, {
  timeout: isFull ? 3_600_000 : 900_000,
}, async () => {
  const clean = await runFaults(chain, other, { faults: [], mostLooks })
  expect(clean.problems).toEqual([])
  let next = 0
  const failed: unknown[] = []
  const runOn = async () => {
    while (next < count && failed.length === 0) {
      const place = next++
      const faults = again
        ? (JSON.parse(again) as Fault[])
        : drawFaults(seed + place, clean.calls)
      const { problems, log } = await runFaults(chain, other, {
        faults,
        mostLooks,
      }).catch((error: unknown) => ({ problems: [String(error)], log: [] }))
      if (problems.length > 0)
        failed.push({ place, faults: JSON.stringify(faults), log, problems })
    }
  }
  await Promise.all(Array.from({ length: together }, runOn))
  expect(failed).toEqual([])
})
