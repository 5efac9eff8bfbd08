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
 * Says what the field must be. Leaves out the given value and its type: that is
 * a JavaScript type, such as `bigint`, which a JSON client does not know.
 */
function malformed(error: InvalidFieldError): Response {
  const field = fieldOf(error)
  const detail = `${field} must be ${error.details.expected}.`
  return problem('invalidField', { field, detail })
}

/**
 * Reasons with two meanings: if the client's payment causes one, the status is
 * 422; if the state of the order causes it, 409 (conflict).
 */
const endings: readonly ProblemReason[] = ['expired', 'consumed', 'canceled']

/**
 * Turns a refusal into a problem response. `about` names the cause: `'sent'`
 * for what the client sent, `'state'` for the state of the order.
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
 * True if a request can be answered with this reason. False for reasons that
 * are only stored with an order.
 */
export function isProblemReason(reason: string): reason is ProblemReason {
  return Object.hasOwn(problemTable, reason)
}

/**
 * Returns the field name that the client used. Errors say `payment.x` or
 * `cancellation.x`, but the JSON body is the payment or cancellation itself, so
 * the client sent `x`.
 */
function fieldOf({ details }: InvalidFieldError): string {
  return String(details.field).replace(/^(payment|cancellation)\./, '')
}
