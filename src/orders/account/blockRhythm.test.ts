import { expect, test } from 'vitest'
import { learnRhythm } from './blockRhythm.js'

/**
 * Shows blocks to a new rhythm, each as `[number, timestamp, milliseconds]`.
 */
function showHeads(heads: readonly [number, number, number][]) {
  const rhythm = learnRhythm()
  for (const [number, timestamp, at] of heads)
    rhythm.note({ number: BigInt(number), timestamp: BigInt(timestamp) }, at)
  return rhythm
}

test('the next block of a steady chain is expected when the quickest look would show it', () => {
  const rhythm = showHeads([
    [10, 1000, 500],
    [11, 1002, 2430],
    [13, 1006, 6900],
  ])
  // Block 11 was seen 430 ms after its timestamp, the shortest delay of all
  // blocks. So the next one is expected 430 ms, and 20 ms of margin, after its
  // own timestamp.
  expect(rhythm.untilMore(1, 7000)).toBe(8430 + 20 - 7000)
  expect(rhythm.untilMore(2, 7000)).toBe(10_430 + 20 - 7000)
  expect(rhythm.untilMore(1, 9000)).toBe(0)
})

test.each<[string, [number, number, number][]]>([
  ['no look', []],
  [
    'two blocks',
    [
      [10, 1000, 0],
      [12, 1004, 4000],
    ],
  ],
  [
    'a missed slot',
    [
      [10, 1000, 0],
      [11, 1012, 12_000],
      [12, 1036, 36_000],
      [13, 1048, 48_000],
    ],
  ],
  [
    'blocks on demand, whose times run ahead',
    [
      [10, 1000, 0],
      [11, 1001, 10],
      [12, 1002, 20],
      [13, 1003, 30],
      [14, 1004, 40],
    ],
  ],
  [
    'a reorganization',
    [
      [10, 1000, 0],
      [13, 1006, 6000],
      [12, 1004, 6100],
    ],
  ],
  [
    'several blocks in a second',
    [
      [10, 1000, 0],
      [14, 1000, 100],
      [18, 1001, 1100],
    ],
  ],
])('%s is no steady pace', (_, heads) => {
  expect(showHeads(heads).untilMore(1, 100_000)).toBeUndefined()
})
