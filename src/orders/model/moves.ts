import type { OrderRecord, OrderRole, OrderState } from '../../store/types.js'
import { TransitionError } from './errors.js'

/** All states of an order. */
export const orderStates: readonly OrderState[] = [
  'drafted',
  'stored',
  'capturing',
  'canceling',
  'captured',
  'voided',
  'canceled',
  'expired',
  'consumed',
]

/** States that one cause leads from, and the states that it can lead to. */
type Move = {
  from: readonly OrderState[]
  to: readonly OrderState[]
}

/**
 * What changes a state: something that the chain shows, the fate of a
 * transaction of ours, or a command.
 */
export type MoveCause =
  // The chain shows it.
  | 'capture'
  | 'cancel'
  | 'consumed'
  | 'withdrawn'
  | 'expired'
  | 'gone'
  | 'replaced'
  // A transaction of ours.
  | 'recorded'
  | 'refused'
  | 'freed'
  // Commands.
  | 'accept'
  | 'void'
  | 'acceptCancellation'
  | 'reauthorize'
  | 'giveUp'
  | 'loseNonce'
  | 'renewRefund'

type Moves = Partial<Record<MoveCause, readonly Move[]>>

const open = ['drafted', 'stored', 'capturing', 'canceling'] as const

const shown: Moves = {
  capture: [
    {
      from: [...open, 'voided', 'expired', 'canceled', 'consumed'],
      to: ['captured'],
    },
  ],
  cancel: [
    { from: [...open, 'voided', 'expired', 'consumed'], to: ['canceled'] },
  ],
  consumed: [
    { from: [...open, 'voided', 'expired', 'canceled'], to: ['consumed'] },
  ],
  withdrawn: [{ from: [...open, 'voided', 'expired'], to: ['canceled'] }],
  expired: [{ from: open, to: ['expired'] }],
  gone: [
    { from: ['captured'], to: ['capturing', 'stored', 'voided'] },
    { from: ['canceled'], to: ['canceling', 'stored', 'voided'] },
    { from: ['consumed'], to: ['stored', 'voided'] },
  ],
}

const sent: Moves = {
  recorded: [{ from: ['stored'], to: ['capturing', 'canceling'] }],
  refused: [{ from: ['capturing', 'canceling'], to: ['stored', 'voided'] }],
  freed: [{ from: ['capturing', 'canceling'], to: ['stored'] }],
}

/**
 * All allowed changes of state, by role and cause. What the chain shows can
 * change every open state, and correct a decided one; a reorganization (`gone`)
 * undoes that. A change that is not listed here is a bug: {@link inState}
 * throws, and nothing is written.
 */
export const moves: Readonly<Record<OrderRole, Moves>> = {
  sale: {
    ...shown,
    ...sent,
    gone: [
      { from: ['captured'], to: ['capturing', 'stored', 'voided', 'drafted'] },
      { from: ['canceled'], to: ['canceling', 'stored', 'voided', 'drafted'] },
      { from: ['consumed'], to: ['stored', 'voided', 'drafted'] },
    ],
    accept: [{ from: ['drafted'], to: ['stored'] }],
    void: [{ from: ['drafted', 'stored', 'canceling'], to: ['voided'] }],
    acceptCancellation: [{ from: ['stored'], to: ['voided'] }],
    reauthorize: [{ from: ['canceled', 'expired'], to: ['drafted'] }],
  },
  refund: {
    ...shown,
    ...sent,
    accept: [{ from: ['drafted'], to: ['stored'] }],
    giveUp: [{ from: ['drafted'], to: ['voided'] }],
    loseNonce: [
      {
        from: [...open, 'voided', 'expired', 'canceled', 'consumed'],
        to: ['voided'],
      },
    ],
    renewRefund: [{ from: ['voided', 'expired', 'canceled'], to: ['drafted'] }],
    // The nonce paid another refund, so this one is drafted again.
    replaced: [{ from: ['consumed'], to: ['drafted'] }],
  },
  permission: {
    ...shown,
    ...sent,
    accept: [{ from: ['drafted'], to: ['stored'] }],
    void: [{ from: ['drafted'], to: ['voided'] }],
  },
  charge: {
    ...shown,
    ...sent,
    void: [{ from: ['stored'], to: ['voided'] }],
  },
  movement: { ...shown, ...sent },
}

/** The states that a cause can lead to from a state. */
function nextStates(
  role: OrderRole,
  cause: MoveCause,
  state: OrderState,
): readonly OrderState[] {
  const found = moves[role][cause]?.filter(({ from }) => from.includes(state))
  return found?.flatMap(({ to }) => to) ?? []
}

/**
 * Returns an order in another state. The finality `preconfirmed` goes: it
 * described the pending block while a capture was in flight.
 *
 * @throws {@link TransitionError} when {@link moves} has no such move.
 */
export function inState<row extends OrderRecord>(
  order: row,
  cause: MoveCause,
  to: OrderState,
): row {
  const { role, state: from } = order
  if (from !== to && !nextStates(role, cause, from).includes(to))
    throw new TransitionError({ role, cause, from, to })
  return { ...dropPreconfirmed(order), state: to }
}

function dropPreconfirmed<row extends OrderRecord>(order: row): row {
  return order.finality === 'preconfirmed'
    ? { ...order, finality: undefined, settledHash: undefined }
    : order
}
