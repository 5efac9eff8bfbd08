import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { isFull, killSeed } from '../../kills/killCases.js'
import { isRecording, withoutBatches } from '../../kills/points.js'
import { refundSigners } from '../../kills/refundPlan.js'
import {
  type RefundKill,
  readRefundPoints,
  recordRefund,
  refundKills,
  runRefundKill,
  writeRefundPoints,
} from '../../kills/runRefundKill.js'
import { runInSlots } from '../../kills/startKills.js'

const [worker, ...chains] = await Promise.all([
  bundleWorker('refundWorker'),
  // One each: a case may move the time of its chain.
  startDevChain({ blockTime: 0 }),
  startDevChain({ blockTime: 0 }),
])
afterAll(async () => {
  worker.remove()
  await Promise.all(chains.map((chain) => chain.stop()))
})

test('every boundary that a process passes from a refund to its finality is on the list', async () => {
  const found = await runInSlots(chains, refundSigners, (chain, signer) =>
    recordRefund(worker.file, chain, signer),
  )
  const points = Object.fromEntries(
    refundSigners.map((signer, index) => [signer, found[index] ?? []]),
  )
  if (isRecording) writeRefundPoints(points)
  const listed = readRefundPoints()
  for (const signer of refundSigners)
    expect(withoutBatches(points[signer] ?? [])).toEqual(
      withoutBatches(listed[signer] ?? []),
    )
}, 1_800_000)

const all = refundKills()
const random = seededRandom(killSeed)
const cases = all.filter(() => isFull || random() < 12 / all.length)

test(`dying anywhere in a refund, a process leaves one that is paid once (${cases.length} of ${all.length} places, seed ${killSeed})`, async () => {
  const problems = await runInSlots(chains, cases, (chain, one: RefundKill) =>
    runRefundKill(worker.file, chain, one),
  )
  expect(problems.flat()).toEqual([])
}, 3_600_000)
