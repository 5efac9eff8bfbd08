import { expect, test } from 'vitest'
import { createLogTracker, type SealedFinality } from './trackLogs.js'
import type { ReadLog } from './types.js'

const word = (digit: number) => `0x${String(digit).repeat(64)}` as const

/** A log of block 10, unless `changes` say otherwise. */
const sampleLog = (changes: Partial<ReadLog> = {}): ReadLog => ({
  address: `0x${'11'.repeat(20)}`,
  topics: [],
  data: '0x',
  blockNumber: 10n,
  blockHash: word(2),
  blockTimestamp: undefined,
  transactionHash: word(3),
  transactionIndex: 0,
  logIndex: 0,
  removed: false,
  preconfirmed: false,
  ...changes,
})
const pendingLog = (changes: Partial<ReadLog> = {}): ReadLog =>
  sampleLog({ blockHash: undefined, preconfirmed: true, ...changes })

function startTracker(finality: SealedFinality = 'included') {
  const events: unknown[] = []
  const tracker = createLogTracker((event) => {
    if (event.type !== 'gap')
      events.push([event.type, event.log.blockNumber, event.log.blockHash])
  }, finality)
  return { tracker, events }
}

test('a transaction that appears in another block has left the first', () => {
  const { tracker, events } = startTracker()
  tracker.include(sampleLog())
  tracker.include(sampleLog({ blockNumber: 11n, blockHash: word(4) }))
  expect(events).toEqual([
    ['included', 10n, word(2)],
    ['removed', 10n, word(2)],
    ['included', 11n, word(4)],
  ])
})

test('equal logs of one transaction are both included', () => {
  const { tracker, events } = startTracker()
  tracker.include(sampleLog())
  tracker.include(sampleLog({ logIndex: 1 }))
  tracker.include(sampleLog({ logIndex: 1 }))
  expect(events).toEqual([
    ['included', 10n, word(2)],
    ['included', 10n, word(2)],
  ])
})

test('a finality above another is not told before it', () => {
  const { tracker, events } = startTracker('finalized')
  tracker.include(sampleLog())
  tracker.raise('finalized', [sampleLog()])
  tracker.raise('safe', [sampleLog()])
  expect(events.map((event) => Object(event)[0])).toEqual([
    'included',
    'safe',
    'finalized',
  ])
})

test('only what was read again is raised', () => {
  const { tracker, events } = startTracker('safe')
  tracker.include(sampleLog())
  tracker.include(sampleLog({ transactionHash: word(5), logIndex: 1 }))
  tracker.raise('safe', [sampleLog()])
  expect(events).toHaveLength(3)
  expect(tracker.oldestBelow('safe')).toBe(10n)
})

test('a pre-confirmation that comes after its block is not told', () => {
  const { tracker, events } = startTracker()
  tracker.include(sampleLog())
  tracker.preconfirm(pendingLog())
  expect(events).toEqual([['included', 10n, word(2)]])
})

test('a pre-confirmation of a block that is sealed already is not told', () => {
  const { tracker, events } = startTracker()
  tracker.settle(10n, 0n)
  tracker.preconfirm(pendingLog())
  expect(events).toEqual([])
})

test('a dropped pre-confirmation that keeps coming is told once', () => {
  const { tracker, events } = startTracker()
  tracker.preconfirm(pendingLog())
  tracker.settle(15n, 0n)
  tracker.preconfirm(pendingLog())
  tracker.settle(16n, 0n)
  tracker.preconfirm(pendingLog())
  tracker.settle(17n, 0n)
  expect(events).toEqual([
    ['preconfirmed', 10n, undefined],
    ['dropped', 10n, undefined],
  ])
})

test('what is forgotten as final is not included again', () => {
  const { tracker, events } = startTracker()
  tracker.include(sampleLog())
  tracker.settle(50n, 18n)
  tracker.include(sampleLog())
  expect(events).toEqual([['included', 10n, word(2)]])
})

test('a log below its finality is kept, however old it is', () => {
  const { tracker, events } = startTracker('finalized')
  tracker.include(sampleLog())
  tracker.settle(50n, 18n)
  expect(tracker.oldestBelow('finalized')).toBe(10n)
  tracker.raise('finalized', [sampleLog()])
  expect(events.map((event) => Object(event)[0])).toEqual([
    'included',
    'safe',
    'finalized',
  ])
})

test('equal pre-confirmed logs of one transaction are both told, copies not', () => {
  const { tracker, events } = startTracker()
  tracker.preconfirm(pendingLog())
  tracker.preconfirm(pendingLog({ logIndex: 1 }))
  tracker.preconfirm(pendingLog())
  tracker.preconfirm(pendingLog({ logIndex: 1 }))
  tracker.preconfirm(pendingLog({ transactionIndex: 2, logIndex: 3 }))
  expect(events).toHaveLength(2)
  tracker.settle(16n, 0n)
  expect(events.slice(2).map((event) => Object(event)[0])).toEqual([
    'dropped',
    'dropped',
  ])
})
