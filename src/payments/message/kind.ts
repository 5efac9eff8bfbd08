import type { Address } from 'viem'
import { parsePayment } from '../../core/fields.js'
import type { AnyPayment, Payment } from '../../core/types.js'
import { addTypes, type SigningPayload } from './paymentTypedData.js'

/** Who takes part in a capture besides the payer. */
export type PaymentAccounts = {
  /** The account that is paid. */
  recipient: Address
  /** The only account that can capture; absent if anyone can. */
  operator: Address | undefined
}

/** What signing asks of the kind of a payment. */
export type SigningKind = {
  /** The member of an expectation that has the total: exact, or a ceiling. */
  readonly total: 'amount' | 'atMost'
  /** The expected type of the message, if the caller names none. */
  readonly primaryType: AnyPayment['primaryType']
  /** The members of an expectation that other kinds do not have. */
  readonly expected: Readonly<Record<string, unknown>>
  /**
   * Reads a payment of this kind, signed or not.
   *
   * @throws {@link InvalidFieldError} when it is malformed or of another kind.
   */
  parse(value: unknown): AnyPayment
  /** The accounts that a payment names. */
  accounts(payment: AnyPayment): PaymentAccounts
  /** What the payer's wallet signs. */
  typedData(payment: AnyPayment): SigningPayload
}

/** EIP-3009: the message has the exact amount and the recipient. */
export const eip3009Signing: SigningKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  expected: { amount: true },
  parse: parsePayment,
  accounts: accountsOf,
  typedData: (payment: Payment) => addTypes(payment),
}

/** The accounts of a payment whose message names the recipient. */
export function accountsOf({ primaryType, message }: Payment): PaymentAccounts {
  const { to } = message
  return {
    recipient: to,
    operator: primaryType === 'ReceiveWithAuthorization' ? to : undefined,
  }
}
