import { afterAll, expect, test } from 'vitest'
import { killCases, scenes } from '../../kills/killCases.js'
import { isBatch } from '../../kills/plan.js'
import {
  isRecording,
  type Points,
  readPoints,
  withoutBatches,
  writePoints,
} from '../../kills/points.js'
import { startKills } from '../../kills/startKills.js'

const kills = await startKills()
afterAll(() => kills.stop())

test('every boundary a process passes is on the list of those it dies at', async () => {
  const found = await kills.record(scenes)
  const points: Record<string, Record<string, readonly string[]>> = {}
  for (const [index, { flow, account }] of scenes.entries())
    points[flow] = { ...points[flow], [account]: found[index] ?? [] }
  // Every flow and kind of account is among the scenes.
  if (isRecording) writePoints(points as Points)
  expect(listAll(points)).toEqual(listAll(readPoints()))
}, 1_800_000)

test('dying anywhere in a transaction of several captures, a process leaves orders that are captured once each', async () => {
  const cases = killCases('sqlite', ({ flow }) => isBatch(flow))
  expect(await kills.killAll(cases)).toEqual([])
}, 1_800_000)

test('dying anywhere in a capture, a process leaves an order that is captured once', async () => {
  const cases = killCases('sqlite', ({ flow }) => flow === 'capture')
  expect(await kills.killAll(cases)).toEqual([])
}, 1_800_000)

/**
 * In the order they are passed, save what a worker does side by side. Of the
 * requests of a batch, those that go together depend on timing.
 */
function listAll(
  points: Record<string, Record<string, readonly string[]>>,
): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(points).flatMap(([flow, kinds]) =>
      Object.entries(kinds).map(([account, names]) => [
        `${flow} ${account}`,
        listOne(flow, names),
      ]),
    ),
  )
}

function listOne(flow: string, names: readonly string[]): readonly string[] {
  if (flow.startsWith('batch')) return withoutBatches(names)
  return /^(cancel|watch)$/.test(flow) ? [...names].sort() : names
}
