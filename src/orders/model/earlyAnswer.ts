import { checkLimit } from '../../core/checkLimit.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { EarlyState, OrderRecord } from '../../store/types.js'
import { type Changes, withEvent } from './changes.js'
import type { SettledPolicy } from './types.js'

/**
 * When a request for a capture is answered. `preconfirmed`: once the pending
 * block shows the capture. `included`: once a block has it.
 */
export type AnswerAt = 'preconfirmed' | 'included'

/**
 * When to answer a request, and the largest payment to answer at
 * `preconfirmed`.
 */
export type AnswerChoice = {
  answerAt?: AnswerAt | undefined
  preconfirmedUpTo?: string | undefined
}

/**
 * Checks a choice. Returns the largest payment to answer at `preconfirmed`, a
 * decimal in whole tokens; `undefined` if none is.
 *
 * @throws {@link InvalidFieldError} when a field is malformed, or does not fit
 * the others or the policy.
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
 * True when the order was answered early, while only the pending block showed
 * its capture, whether it was paid in the end or not. Pure.
 */
export function isAnsweredEarly({
  early,
}: Pick<OrderRecord, 'early'>): boolean {
  return early !== undefined && early !== 'reserved'
}

/**
 * Updates `early`, what became of an answer at `preconfirmed`, in orders whose
 * state changed. Reports each order that was answered so and whose capture
 * failed; every write that ends `capturing` passes here, so none is forgotten.
 * Pure.
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

/** Derives from the order's state what became of an early answer. Pure. */
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
