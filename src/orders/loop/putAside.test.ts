import { expect, test } from 'vitest'
import { CaptureKeyError } from '../../batches/keys/errors.js'
import type { Observation } from '../../core/observeFailure.js'
import { memoryStore } from '../../store/memoryStore.js'
import { openAside } from './putAside.js'

test('the fault of a capture key is reported once, however many orders it holds up', () => {
  const seen: Observation[] = []
  const context = {
    store: memoryStore(),
    now: () => 0n,
    observe: (one: Observation) => seen.push(one),
  }
  const observed = 'submitter.failed'
  const aside = openAside(context, { key: 'key', observed, about: {} })
  const treasury = `0x${'1'.repeat(40)}` as const
  const faultOf = () => new CaptureKeyError({ reason: 'revoked', treasury })
  const fault = faultOf()
  for (const id of ['one', 'two', 'three']) aside.put(id, fault, id)
  aside.put('four', new Error('other'), 'four')
  aside.put('five', fault, 'five')
  expect(seen.map(({ attributes }) => attributes.orderId)).toEqual([
    'one',
    'four',
  ])
  aside.put('one', faultOf(), 'one')
  expect(seen).toHaveLength(3)
  for (const id of ['one', 'two', 'three', 'four', 'five'])
    expect(aside.isWaiting(id)).toBe(true)
})
