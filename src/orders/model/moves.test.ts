import { expect, test } from 'vitest'
import { storedOrder } from '../../../test/unit/support/storedOrder.js'
import type { OrderRecord, OrderState } from '../../store/types.js'
import { inState, type MoveCause, moves, orderStates } from './moves.js'
import { roleOf } from './roles.js'

const roles: readonly [keyof typeof moves, Partial<OrderRecord>][] = [
  ['sale', {}],
  ['refund', { refundOf: 'order' }],
  ['permission', { subscriptionId: 'monthly' }],
  ['charge', { subscriptionId: 'monthly', chargeId: '1' }],
]

test.each(roles)(
  'a row with the fields of a %s has that role',
  (role, fields) => expect(roleOf({ ...storedOrder, ...fields })).toBe(role),
)

test.each(roles)(
  'each move of the table of a %s is made, and every other is refused by name',
  (role, fields) => {
    const causes = new Set(Object.values(moves).flatMap(Object.keys))
    for (const cause of causes as Set<MoveCause>)
      for (const from of orderStates)
        for (const to of orderStates.filter((state) => state !== from)) {
          const order = { ...storedOrder, ...fields, state: from }
          const isAllowed = moves[role][cause]?.some(
            (move) => move.from.includes(from) && move.to.includes(to),
          )
          const move = () => inState(order, cause, to)
          if (isAllowed) expect(move().state).toBe(to)
          else
            expect(move).toThrow(
              expect.objectContaining({
                name: 'TransitionError',
                message: `A ${role} cannot go from ${from} to ${to} by ${cause}.`,
              }),
            )
        }
  },
)

test.each<OrderState>(['captured', 'canceled', 'consumed'])(
  'the end of a window moves nothing that is %s',
  (state) => {
    const order = { ...storedOrder, state }
    expect(() => inState(order, 'expired', 'expired')).toThrow('cannot go from')
  },
)

test('a move forgets what only the pending block showed', () => {
  const order: OrderRecord = {
    ...storedOrder,
    state: 'capturing',
    finality: 'preconfirmed',
    settledHash: `0x${'11'.repeat(32)}`,
  }
  expect(inState(order, 'refused', 'stored')).toMatchObject({
    finality: undefined,
    settledHash: undefined,
  })
  expect(inState(order, 'capture', 'capturing')).toMatchObject({
    finality: undefined,
  })
})
