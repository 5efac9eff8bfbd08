import { expect, test } from 'vitest'
import { storedOrder } from '../../../test/unit/support/storedOrder.js'
import type { OrderRecord, OrderRole, OrderState } from '../../store/types.js'
import { inState, type MoveCause, moves, orderStates } from './moves.js'

const roles = Object.keys(moves) as OrderRole[]

test.each(roles)(
  'each move of the table of a %s is made, and every other is refused by name',
  (role) => {
    const causes = new Set(Object.values(moves).flatMap(Object.keys))
    for (const cause of causes as Set<MoveCause>)
      for (const from of orderStates)
        for (const to of orderStates.filter((state) => state !== from)) {
          const order = { ...storedOrder, role, state: from }
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
