import { expect, test } from 'vitest'
import { planRecord } from '../../../../src/orders/sending/recordSigned.js'
import type { DueDraft } from '../../../../src/orders/sending/rehearseDue.js'
import { cellsOf, roles } from '../../support/everyCell.js'

const rules = {
  at: 1n,
  policy: {
    capture: 'manual',
    relayCancellations: 'always',
    deadlineNear: 60n,
  },
} as const

const kinds = ['capture', 'cancel'] as const

test.each(roles)(
  'no transaction for a %s is stored unless its row goes in flight with it',
  (role) => {
    for (const { stored, name } of cellsOf(role))
      for (const kind of kinds) {
        const draft = { stored, kind } as unknown as DueDraft
        const { state, requested } = stored.order
        const isOpen =
          state === 'stored' || (state === 'voided' && requested === 'cancel')
        const plan = () => planRecord([draft], [], rules).orders.length
        const note = `${name} × ${kind}`
        if (isOpen) expect(plan(), note).toBe(1)
        else
          expect(plan, note).toThrow(
            expect.objectContaining({ name: 'TransitionError' }),
          )
      }
  },
)
