import { expect, test } from 'vitest'
import { createLabelBounds, mostValues } from './boundLabels.js'

test.each([
  ['captured', 'captured'],
  ['subscriptions.draft', 'subscriptions.draft'],
  ['warehouse-2', 'warehouse-2'],
  [8453, '8453'],
  [`0x${'ab'.repeat(32)}`, 'other'],
  ['ab'.repeat(32), 'other'],
  [`0x${'ab'.repeat(20)}`, 'other'],
  ['5e884898da28047151d0e56f8dc62927', 'other'],
  ['a sentence of an error', 'other'],
  ['', 'other'],
  ['x'.repeat(65), 'other'],
])('the value %s is shown as %s', (value, shown) => {
  expect(createLabelBounds()({ label: value })).toEqual({ label: shown })
})

test('an absent value gives no label', () => {
  expect(createLabelBounds()({ label: undefined })).toEqual({})
})

test('a label has no more than its number of values, and keeps those it has', () => {
  const bound = createLabelBounds()
  const values = Array.from({ length: 1000 }, (_, at) => `value${at}`)
  const shown = values.map((value) => bound({ label: value }).label)
  expect(new Set(shown)).toEqual(
    new Set([...values.slice(0, mostValues), 'other']),
  )
  expect(bound({ label: 'value7' })).toEqual({ label: 'value7' })
  expect(bound({ label: 'value700' })).toEqual({ label: 'other' })
  expect(bound({ further: 'value700' })).toEqual({ further: 'value700' })
})
