import type { BatchRoute } from '../../batches/calls/findBatchRoute.js'
import type { Movement } from '../../store/types.js'
import type { DueDraft } from './rehearseDue.js'

/** A transaction to sign, and the orders that it captures or cancels. */
export type DueTransaction = Pick<DueDraft, 'kind' | 'call' | 'gas'> & {
  drafts: readonly DueDraft[]
  /** Absent if the transaction makes the call of one order itself. */
  route?: BatchRoute | undefined
}

/**
 * Builds the transaction that captures these orders together; if there is only
 * one, the transaction that captures it alone.
 */
export function carry(
  drafts: readonly [DueDraft, ...DueDraft[]],
  route: BatchRoute | undefined,
): DueTransaction {
  const [first, second] = drafts
  if (!route || !second) {
    const { kind, call, gas } = first
    return { kind, call, gas, drafts: [first] }
  }
  const data = route.encode(drafts.map(({ call }) => call))
  const gas = drafts.reduce((sum, one) => sum + shareOf(one), route.gas)
  return { kind: 'capture', call: { to: route.to, data }, gas, drafts, route }
}

/**
 * Gas limit of a transaction without calls, with the quarter that all limits
 * have for changes of the state.
 */
const plainGas = 26_250n

/** Returns the gas limit of a call without that of its transaction. */
export function shareOf({ gas }: Pick<DueDraft, 'gas'>): bigint {
  return gas > plainGas ? gas - plainGas : gas
}

/** The payments that a transaction carries. */
export function movementsBy({
  drafts,
}: Pick<DueTransaction, 'drafts'>): Movement[] {
  return drafts.map(({ stored: { order, attempt } }) => ({
    orderId: order.id,
    attempt: attempt.number,
  }))
}

/** The ids of the orders that transactions carry. */
export function idsOf(transactions: readonly DueTransaction[]): string[] {
  return transactions.flatMap(({ drafts }) =>
    drafts.map(({ stored }) => stored.order.id),
  )
}
