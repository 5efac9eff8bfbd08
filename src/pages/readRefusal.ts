import type { PaymentRequired } from '@x402/core/types'
import { decodeHeader, requiredHeader } from '../x402/wire/headers.js'
import type { PageFailure, PaywallAnswer } from './web/pageData.js'

/** An answer of the gate itself, in place of the handler's answer. */
export type GateRefusal =
  /** It asks for a payment. `code` says why it refused the payment it got. */
  | { kind: 'offer'; required: PaymentRequired; code: string }
  /** This payment cannot be used here. The answer contains no offer. */
  | { kind: 'unusable'; failure: PageFailure }
  /** Nothing can be paid now. */
  | { kind: 'later'; answer: PaywallAnswer }

/**
 * Reads an answer of a gate. Returns `undefined` if the buyer should see the
 * answer unchanged, such as the answer of the handler.
 */
export async function readRefusal(
  answer: Response,
): Promise<GateRefusal | undefined> {
  const { status, headers } = answer
  if (status < 400 || !headers.get('content-type')?.startsWith(json))
    return undefined
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined)
  const { error = '' } = Object(body)
  // Answers of the handler are private. They may come from another gate.
  const isPrivate = headers.get('cache-control') !== 'no-store'
  if (status === 402 && !isPrivate) {
    const required = decodeHeader(headers.get(requiredHeader) ?? '')
    return { kind: 'offer', required: required as PaymentRequired, code: error }
  }
  if (Object.keys(Object(body)).join() !== 'error') return undefined
  if (isPrivate && status === 409 && error === 'answered')
    return { kind: 'unusable', failure: { reason: 'answered' } }
  if (!isPrivate && unusable.includes(error))
    return { kind: 'unusable', failure: explainCode(error) }
  const known = isPrivate ? privateLaters : laters
  const later = Object.hasOwn(known, error) ? known[error] : undefined
  return later && { kind: 'later', answer: { isLater: true, ...later } }
}

const json = 'application/json'

const failed: PaywallAnswer = {
  failure: { reason: 'failed' },
}

/** Errors with which the gate refuses a payment without making an offer. */
const unusable: readonly unknown[] = [
  'invalid_payment_identifier',
  'payment_identifier_required',
  'payment_identifier_conflict',
]

/** For payments that the gate has on record, by the `error` of its answer. */
const privateLaters: Readonly<Record<string, PaywallAnswer>> = {
  settlement_pending: {
    failure: { reason: 'wait' },
    seconds: 1,
  },
  work_failed: failed,
  answer_too_long: failed,
}

/** For other payments, by the `error` of the gate's answer. */
const laters: Readonly<Record<string, PaywallAnswer>> = {
  unavailable: {
    failure: { reason: 'unreachable' },
    seconds: 5,
  },
  unexpected_verify_error: {
    failure: { reason: 'unreachable' },
    seconds: 5,
  },
  too_many_open_payments: {
    failure: { reason: 'tooMany' },
  },
}

const ended: PageFailure = { reason: 'ended' }
const cannotCharge: PageFailure = {
  reason: 'cannotCharge',
}

/** By the code with which a gate refuses a payment. */
const failures: Readonly<Record<string, PageFailure>> = {
  invalid_exact_evm_insufficient_balance: {
    reason: 'tooLittle',
  },
  invalid_exact_evm_signature: {
    reason: 'wrongSigner',
  },
  // These may also be about a payment that was charged long ago.
  invalid_exact_evm_payload_authorization_valid_before: ended,
  invalid_exact_evm_nonce_already_used: ended,
  invalid_transaction_state: ended,
  invalid_exact_evm_transaction_simulation_failed: cannotCharge,
}

/** Returns the words that tell the buyer why a gate refused a payment. */
export function explainCode(code: string): PageFailure {
  return Object.hasOwn(failures, code) && failures[code]
    ? failures[code]
    : {
        reason: 'refused',
        values: { reason: `${code}.` },
        isSerious: true,
      }
}
