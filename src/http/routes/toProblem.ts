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
} from '../../orders/model/errors.js'
import {
  DuplicateRecordError,
  LeaseLostError,
  StaleRecordError,
  StoreError,
} from '../../store/errors.js'
import type { OrderReason, OrderState } from '../../store/types.js'
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
]

/** Turns an error into a problem; says nothing of an unexpected one. */
export function toProblem(error: unknown): Response {
  if (error instanceof RequestRefusedError)
    return problem(error.reason, error.facts)
  if (error instanceof OrderNotFoundError) return problem('orderNotFound')
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

/** Without the value and its type: in JSON there is no bigint. */
function malformed(error: InvalidFieldError): Response {
  const field = fieldOf(error)
  const detail = `${field} must be ${error.details.expected}.`
  return problem('invalidField', { field, detail })
}

/** What makes a refusal one of the order's state, not of what was sent. */
const endings: readonly ProblemReason[] = ['expired', 'consumed', 'canceled']

/** A verdict on what was sent, or on the order's state, as a problem. */
export function refusal(
  reason: ProblemReason | OrderReason,
  about: 'sent' | 'state',
  state?: OrderState | undefined,
): Response {
  const known: ProblemReason = isKnown(reason) ? reason : 'captureRejected'
  if (known === 'notOpen' && state) return notOpen(state, about)
  const isEnding = about === 'state' && endings.includes(known)
  return problem(known, isEnding ? { status: 409 } : {})
}

/** The problem of an order whose state does not allow what was asked. */
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

/** False for reasons that only the order itself gives. */
function isKnown(reason: ProblemReason | OrderReason): reason is ProblemReason {
  return Object.hasOwn(problemTable, reason)
}

/** As the body has it: the payment is all of it there. */
function fieldOf({ details }: InvalidFieldError): string {
  return String(details.field).replace(/^(payment|cancellation)\./, '')
}
