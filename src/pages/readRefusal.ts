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
 * Reads an answer of a gate, with the `error` that the gate gave it. Without an
 * error it is the answer of the handler, which the buyer sees unchanged.
 */
export function readRefusal(
  { status, headers }: Response,
  error: string | undefined,
): GateRefusal | undefined {
  if (error === undefined) return undefined
  if (status === 402) {
    const required = decodeHeader(headers.get(requiredHeader) ?? '')
    return { kind: 'offer', required: required as PaymentRequired, code: error }
  }
  if (error === 'answered')
    return { kind: 'unusable', failure: { reason: 'answered' } }
  if (unusable.includes(error))
    return { kind: 'unusable', failure: explainCode(error) }
  const later = Object.hasOwn(laters, error) ? laters[error] : undefined
  return { kind: 'later', answer: { isLater: true, ...(later ?? failed) } }
}

/** Of a payment that may be charged: the buyer must not sign another one. */
const failed: PaywallAnswer = {
  failure: { reason: 'failed' },
}

/** Errors with which the gate refuses a payment without making an offer. */
const unusable: readonly string[] = [
  'invalid_payment_identifier',
  'payment_identifier_required',
  'payment_identifier_conflict',
]

/** What to show for an `error` of the gate, if it is not {@link failed}. */
const laters: Readonly<Record<string, PaywallAnswer>> = {
  settlement_pending: {
    failure: { reason: 'wait' },
    seconds: 1,
  },
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
  address_too_long: {
    failure: {
      reason: 'refused',
      values: { reason: 'address_too_long.' },
    },
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
