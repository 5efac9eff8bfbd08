import { checkLimit } from '../../core/checkLimit.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { EarlyState, OrderRecord } from '../../store/types.js'
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
  return early !== undefined && !isAllowed(early)
}

/**
 * True for an answer that counts against the limits, but that nobody has got
 * yet.
 */
const isAllowed = (early: EarlyState): boolean =>
  early === 'reserved' || early === 'working'

/**
 * True while a capture is requested or in flight, and no answer at
 * `preconfirmed` was reserved for it.
 */
export function canReserve({
  early,
  state,
  requested,
}: Pick<OrderRecord, 'early' | 'state' | 'requested'>): boolean {
  const isRequested = state === 'stored' && requested === 'capture'
  return early === undefined && (isRequested || state === 'capturing')
}

/** The states of an early answer that count against the limits. */
export const atRisk = ['reserved', 'working', 'answered'] as const

/**
 * Returns an order after the work that began at `preconfirmed` has ended. If the
 * work gave an answer before a block had the capture, the order counts as
 * answered early. If it gave none, nothing is at risk any more.
 */
export function afterWork(
  order: OrderRecord,
  isAnswered: boolean,
): OrderRecord {
  const { early, state } = order
  if (!isAnswered)
    return early === 'working' ? { ...order, early: undefined } : order
  const isKnown = state === 'captured' || isAnsweredEarly(order)
  return isKnown ? order : { ...order, early: 'answered' }
}

/**
 * Returns what becomes of an order's answer at `preconfirmed`, by the order's
 * state. Nothing changes while the capture can still succeed. After that, an
 * answer that nobody got no longer counts against the limits, and an answer that
 * was given is `paid` or `unpaid`.
 */
export function earlyAfter(order: OrderRecord): EarlyState | undefined {
  const { early, state, requested } = order
  if (early === undefined) return undefined
  const isUnused = isAllowed(early)
  if (state === 'captured') return isUnused ? undefined : 'paid'
  const isOpen =
    state === 'capturing' ||
    state === 'canceling' ||
    state === 'drafted' ||
    (state === 'stored' && requested === 'capture')
  if (isOpen) return early
  return isUnused ? undefined : 'unpaid'
}
