import type { Hex } from 'viem'
import {
  authorizationCall,
  authorizationLogs,
  endOfAuthorization,
  type OutcomeKind,
} from '../../chain/state/getPaymentOutcome.js'
import { parsePayment } from '../../core/fields.js'
import { hashChecked } from '../../core/hashPayment.js'
import { proveCapture } from '../../core/receiptProof.js'
import type { AnyPayment, AnySignedPayment, Payment } from '../../core/types.js'
import { type EncodedCall, encodeCapture } from '../message/encodeCall.js'
import { accountsOf, type SigningKind } from '../message/kind.js'
import { addTypes } from '../message/paymentTypedData.js'

/** What a capture asks of the kind of a payment. */
export type CaptureKind = Omit<SigningKind, 'typedData'> & {
  /** The hash that the payer signs. */
  hash(payment: AnyPayment): Hex
  /** Encodes the call that captures an amount of token units. */
  encodeCapture(payment: AnySignedPayment, amount: bigint): EncodedCall<unknown>
}

/** EIP-3009: the token's own function moves the exact amount. */
export const eip3009Capture: CaptureKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  expected: { amount: true },
  parse: parsePayment,
  accounts: accountsOf,
  hash: (payment: Payment) => hashChecked(payment),
  encodeCapture,
}

/**
 * What differs by the kind of a payment: what the payer signs, the call that
 * captures it, and what proves that. Nothing else asks for a kind.
 */
export type PaymentKind = SigningKind & CaptureKind & OutcomeKind

/**
 * The kind of exact payments (EIP-3009), which every function uses by default.
 *
 * @example
 * ```ts
 * import { type AnyPayment, eip3009, type PaymentKind } from 'countersign'
 * import { checkout } from 'countersign/checkout'
 *
 * const kindOf = (payment: AnyPayment): PaymentKind =>
 *   'checkout' in payment ? checkout : eip3009
 * ```
 */
export const eip3009: PaymentKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  expected: { amount: true },
  parse: parsePayment,
  accounts: accountsOf,
  typedData: (payment: Payment) => addTypes(payment),
  hash: (payment: Payment) => hashChecked(payment),
  encodeCapture,
  spentCall: authorizationCall,
  spentLogs: authorizationLogs,
  prove: proveCapture,
  end: endOfAuthorization,
}
