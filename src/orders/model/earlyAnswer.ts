import { checkLimit } from '../../core/checkLimit.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { EarlyState, OrderRecord } from '../../store/types.js'
import { type Changes, withEvent } from './changes.js'
import type { SettledPolicy } from './types.js'

/**
 * When `capture` answers. `preconfirmed`: once the pending block shows the
 * capture. `included`: once a block contains it.
 */
export type AnswerAt = 'preconfirmed' | 'included'

/** When to answer, and the largest payment to answer at `preconfirmed`. */
export type AnswerChoice = {
  answerAt?: AnswerAt | undefined
  preconfirmedUpTo?: string | undefined
}

/**
 * Checks the choice of when to answer. Returns the largest payment to answer at
 * `preconfirmed`, a decimal in whole tokens, or `undefined` if none is answered
 * so.
 *
 * @throws {@link InvalidFieldError} when a field is malformed, or contradicts
 * another field or the policy.
 */
export function parseAnswerAt(
  { answerAt = 'included', preconfirmedUpTo }: AnswerChoice,
  { mostAtRisk }: Pick<SettledPolicy, 'mostAtRisk'>,
  prefix = '',
): string | undefined {
  if (answerAt !== 'preconfirmed' && answerAt !== 'included')
    throw new InvalidFieldError(`${prefix}answerAt`, shown(answerAt), [
      'preconfirmed',
      'included',
    ])
  const field = `${prefix}preconfirmedUpTo`
  if (answerAt === 'included') {
    if (preconfirmedUpTo === undefined) return undefined
    throw new InvalidFieldError(
      field,
      shown(preconfirmedUpTo),
      "given only with answerAt 'preconfirmed'",
    )
  }
  checkLimit(field, preconfirmedUpTo)
  if (mostAtRisk) return preconfirmedUpTo
  throw new InvalidFieldError(
    `${prefix}answerAt`,
    shown(answerAt),
    "'included', unless policy.mostAtRisk of the orders is set",
  )
}

/**
 * True when a caller was told that this order was captured while only the
 * pending block showed it, whether it was paid in the end or not.
 */
export function isAnsweredEarly({
  early,
}: Pick<OrderRecord, 'early'>): boolean {
  return early !== undefined && early !== 'reserved'
}

/**
 * Updates the field `early`, the outcome of an answer at `preconfirmed`, in
 * orders whose state changed. Adds an event for each such order whose capture
 * failed. Every write that ends the state `capturing` passes here, so that no
 * failure goes unreported.
 *
 * @param at Unix milliseconds.
 */
export function settleEarly<changes extends Pick<Changes, 'orders' | 'events'>>(
  changes: changes,
  at: bigint,
): changes {
  if (changes.orders.every((order) => earlyAfter(order) === order.early))
    return changes
  const events = [...changes.events]
  const orders = changes.orders.map((order) => {
    const early = earlyAfter(order)
    if (early !== 'unpaid' || order.early === 'unpaid')
      return { ...order, early }
    const value = String(order.captureValue ?? order.value)
    const told = withEvent(
      order,
      { type: 'servedUnpaid', at, data: { value, payer: order.payer } },
      { early },
    )
    events.push(told.event)
    return told.order
  })
  return { ...changes, orders, events }
}

/** Returns what became of an answer at `preconfirmed`, by the order's state. */
function earlyAfter(order: OrderRecord): EarlyState | undefined {
  const { early, state, requested } = order
  if (early === undefined) return undefined
  const isReserved = early === 'reserved'
  if (state === 'captured') return isReserved ? undefined : 'paid'
  const isOpen =
    state === 'capturing' ||
    state === 'canceling' ||
    state === 'drafted' ||
    (state === 'stored' && requested === 'capture')
  if (isOpen) return early
  return isReserved ? undefined : 'unpaid'
}
