import { readFileSync } from 'node:fs'
import type { OrdersPolicy } from 'countersign/orders'
import { expect, test } from 'vitest'
import { eventTypes } from '../support/eventTypes.js'

const readText = (path: string) => readFileSync(path, 'utf8')

/** The names in the first cells of the tables under a heading. */
function namesIn(path: string, heading: string): string[] {
  const [, section = ''] = readText(path).split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ', 1)
  return [...text.matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)])
    .map(([, name = '']) => name)
}

// Complete by type: a field added to the policy is an error here.
const policy: Record<keyof OrdersPolicy, true> = {
  window: true,
  maxWindow: true,
  capture: true,
  deadlineNear: true,
  safetyMargin: true,
  maxFee: true,
  maxCaptureGas: true,
  contractPayers: true,
  relayCancellations: true,
  fulfilAt: true,
  blocks: true,
  maxInFlight: true,
  batch: true,
  maxBatch: true,
  bumpAfter: true,
  lease: true,
  signTimeout: true,
  sealTimeout: true,
  walletTimeout: true,
  mostAtRisk: true,
  pollingInterval: true,
  quietInterval: true,
  chainClock: true,
}

test('every event has one row', () => {
  const names = [
    'Handle these five first',
    'Wake somebody up',
    'All others',
  ].flatMap((heading) => namesIn('docs/events.md', heading))
  expect(names.sort()).toEqual([...eventTypes].sort())
})

test('every field of the policy has one row that tells its default', () => {
  const names = [
    ...namesIn('docs/settings.md', 'Windows'),
    ...namesIn('docs/settings.md', 'The rest of the policy'),
  ]
  expect(names.sort()).toEqual(Object.keys(policy).sort())
})
