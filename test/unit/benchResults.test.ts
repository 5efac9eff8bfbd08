import { expect, test } from 'vitest'
import { isFresh, mergeRows, type Result } from '../../bench/results.js'

const row = (name: string) => ({
  name,
  peer: 'viem',
  ratio: 2,
  goal: 1,
  unit: 'time',
})

const results: readonly Result[] = [
  { bench: 'first', ...row('a') },
  { bench: 'second', ...row('accept, 426 a second'), stale: true },
  { bench: 'third', ...row('c') },
]

test('rows of a bench take the place of its earlier ones, whatever their names', () => {
  const merged = mergeRows(results, 'second', [row('accept, 300 a second')])
  expect(merged).toEqual([
    results[0],
    { bench: 'second', ...row('accept, 300 a second') },
    results[2],
  ])
})

test('rows of a bench that never ran come last', () => {
  const merged = mergeRows(results, 'fourth', [row('d')])
  expect(merged.at(-1)).toEqual({ bench: 'fourth', ...row('d') })
  expect(merged).toHaveLength(4)
})

test('a bench has to be measured if it has no rows, or a stale one', () => {
  const all = ['first', 'second', 'fourth']
  expect(all.map((bench) => isFresh(results, bench))).toEqual([
    true,
    false,
    false,
  ])
})
