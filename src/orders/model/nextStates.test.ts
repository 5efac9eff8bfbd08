import { expect, test } from 'vitest'
import type { OrderState } from '../../store/types.js'
import { checkTransition, nextStates } from './nextStates.js'

const states = Object.keys(nextStates) as OrderState[]

/** Returns the states from which an order can move to this state. */
const sourcesOf = (to: OrderState) =>
  states.filter((from) => nextStates[from].includes(to))

test.each<[OrderState, OrderState[]]>([
  ['drafted', ['captured', 'canceled', 'expired', 'consumed']],
  [
    'stored',
    [
      'drafted',
      'capturing',
      'canceling',
      'captured',
      'voided',
      'canceled',
      'expired',
      'consumed',
    ],
  ],
  ['capturing', ['stored', 'captured']],
  ['canceling', ['stored', 'voided', 'canceled']],
  [
    'voided',
    [
      'drafted',
      'stored',
      'capturing',
      'canceling',
      'captured',
      'canceled',
      'consumed',
    ],
  ],
])('an order comes to %s from %o alone', (to, sources) => {
  expect(sourcesOf(to).sort()).toEqual(sources.sort())
})

test.each(['captured', 'canceled', 'consumed'] as const)(
  'the chain can lead to %s from every other state',
  (to) => {
    expect(sourcesOf(to).sort()).toEqual(
      states.filter((from) => from !== to).sort(),
    )
  },
)

test('what is not in the table is an error that names both', () => {
  expect(() => checkTransition('captured', 'canceling')).toThrow(
    expect.objectContaining({
      name: 'TransitionError',
      message: 'An order cannot go from captured to canceling.',
      details: { from: 'captured', to: 'canceling' },
    }),
  )
  expect(checkTransition('drafted', 'stored')).toBeUndefined()
})
