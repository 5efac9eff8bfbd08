import type { OrderState } from '../../store/types.js'
import { TransitionError } from './errors.js'

/**
 * The states that an order can move to from each state. Only evidence from the
 * chain leads to `captured`, `canceled` and `consumed`. A reorganization can
 * lead out of them again, to `drafted` if the buyer never gave us a signature.
 */
export const nextStates: Readonly<Record<OrderState, readonly OrderState[]>> = {
  drafted: ['stored', 'expired', 'voided', 'captured', 'canceled', 'consumed'],
  stored: [
    'capturing',
    'canceling',
    'voided',
    'captured',
    'canceled',
    'expired',
    'consumed',
  ],
  capturing: [
    'stored',
    'captured',
    'canceled',
    'voided',
    'expired',
    'consumed',
  ],
  canceling: [
    'stored',
    'voided',
    'canceled',
    'captured',
    'expired',
    'consumed',
  ],
  captured: [
    'drafted',
    'capturing',
    'stored',
    'voided',
    'canceled',
    'expired',
    'consumed',
  ],
  voided: ['stored', 'canceling', 'captured', 'canceled', 'consumed'],
  canceled: [
    'drafted',
    'stored',
    'voided',
    'canceling',
    'captured',
    'expired',
    'consumed',
  ],
  expired: ['drafted', 'stored', 'captured', 'canceled', 'consumed'],
  consumed: ['drafted', 'captured', 'canceled', 'stored', 'voided', 'expired'],
}

/**
 * Checks that {@link nextStates} allows the move.
 * @throws {@link TransitionError}
 */
export function checkTransition(from: OrderState, to: OrderState): void {
  if (!nextStates[from].includes(to)) throw new TransitionError({ from, to })
}
