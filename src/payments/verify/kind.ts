import type { Hex } from 'viem'
import type { OutcomeKind } from '../../chain/state/getPaymentOutcome.js'
import { parsePayment } from '../../core/fields.js'
import { hashChecked } from '../../core/hashPayment.js'
import type { AnyPayment, AnySignedPayment, Payment } from '../../core/types.js'
import { type EncodedCall, encodeCapture } from '../message/encodeCall.js'
import { accountsOf, type SigningKind } from '../message/kind.js'

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
