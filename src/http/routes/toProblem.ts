import {
  BlockReceiptsForbiddenError,
  DomainMismatchError,
  FinalityUnsupportedError,
  LogRangeError,
  NodeAnswerError,
  NodeError,
  UnsupportedTokenError,
} from '../../chain/rpc/errors.js'
import {
  ClockSkewError,
  InvalidAmountError,
  InvalidFieldError,
} from '../../core/errors.js'
import {
  CursorAheadError,
  OrderNotFoundError,
  RefundNotFoundError,
} from '../../orders/index.js'
import {
  DuplicateRecordError,
  LeaseLostError,
  SealerUnavailableError,
  StaleRecordError,
  StoreError,
} from '../../store/errors.js'
import type { OrderReason, OrderState } from '../../store/types.js'
import { SubscriptionNotFoundError } from '../../subscriptions/verbs/errors.js'
import { type ProblemReason, problemTable } from '../schemas/problemTable.js'
import { RequestRefusedError } from './errors.js'
import { problem } from './problem.js'

const nodeErrors = [
  NodeError,
  NodeAnswerError,
  ClockSkewError,
  LogRangeError,
  FinalityUnsupportedError,
  BlockReceiptsForbiddenError,
]

const storeErrors = [
  StoreError,
  StaleRecordError,
  LeaseLostError,
  DuplicateRecordError,
  SealerUnavailableError,
]

/**
 * Turns an error into a problem response. Hides the text of an unexpected
 * error, which may quote a secret.
 */
export function toProblem(error: unknown): Response {
  if (error instanceof RequestRefusedError)
    return problem(error.reason, error.facts)
  if (error instanceof OrderNotFoundError) return problem('orderNotFound')
  if (error instanceof RefundNotFoundError) return problem('refundNotFound')
  if (error instanceof SubscriptionNotFoundError)
    return problem('subscriptionNotFound')
  if (error instanceof CursorAheadError) return problem('cursorAhead')
  if (error instanceof InvalidAmountError)
    return problem('invalidField', { field: 'amount', detail: error.message })
  if (error instanceof InvalidFieldError) return malformed(error)
  if (error instanceof UnsupportedTokenError) return problem('unsupportedToken')
  if (error instanceof DomainMismatchError) return problem('wrongDomain')
  if (nodeErrors.some((type) => error instanceof type))
    return problem('nodeUnavailable')
  if (storeErrors.some((type) => error instanceof type))
    return problem('storeUnavailable')
  return problem('internal')
}

/**
 * Says what the field must be, without the value and its type: the type is a
 * JavaScript one, such as `bigint`, which a JSON client does not know.
 */
function malformed(error: InvalidFieldError): Response {
  const field = fieldOf(error)
  const detail = `${field} must be ${error.details.expected}.`
  return problem('invalidField', { field, detail })
}

/**
 * Reasons that are answered with 409 (conflict) when the order's state, not the
 * request's content, causes them.
 */
const endings: readonly ProblemReason[] = ['expired', 'consumed', 'canceled']

/**
 * Turns a refusal into a problem response. `about` says what caused it: what
 * the client sent, or the state that the order is in.
 */
export function refusal(
  reason: ProblemReason | OrderReason,
  about: 'sent' | 'state',
  state?: OrderState | undefined,
): Response {
  const known: ProblemReason = isProblemReason(reason)
    ? reason
    : 'captureRejected'
  if (known === 'notOpen' && state) return notOpen(state, about)
  const isEnding = about === 'state' && endings.includes(known)
  return problem(known, isEnding ? { status: 409 } : {})
}

/** Builds the problem for an order whose state does not allow the request. */
export function notOpen(state: OrderState, about: 'sent' | 'state'): Response {
  const toDo = adviceOf(state, about)
  return problem('notOpen', {
    detail: `The order is ${state}, which does not allow this.${toDo}`,
  })
}

function adviceOf(state: OrderState, about: 'sent' | 'state'): string {
  const isDraft = state === 'drafted'
  if (isDraft && about === 'state')
    return ' The buyer has not sent a signed payment yet.'
  return isDraft || state === 'expired'
    ? ' The time to pay is over: the shop can reauthorize it.'
    : ''
}

/**
 * False for reasons that no request is answered with, only stored with an
 * order.
 */
export function isProblemReason(reason: string): reason is ProblemReason {
  return Object.hasOwn(problemTable, reason)
}

/**
 * Names the field as the client sent it: errors name `payment.x` or
 * `cancellation.x`, but the body is the payment itself, so its member is `x`.
 */
function fieldOf({ details }: InvalidFieldError): string {
  return String(details.field).replace(/^(payment|cancellation)\./, '')
}
