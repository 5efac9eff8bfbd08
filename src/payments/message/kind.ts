import type { Address } from 'viem'
import { parsePayment } from '../../core/fields.js'
import type { AnyPayment, Payment } from '../../core/types.js'
import { addTypes, type SigningPayload } from './paymentTypedData.js'

/** Who takes part in a capture besides the payer. */
type PaymentAccounts = {
  /** The account that is paid. */
  recipient: Address
  /** The only account that can capture; absent if anyone can. */
  operator: Address | undefined
}

/** The part of a payment kind that signing needs. */
export type SigningKind = {
  /**
   * The member of `expect` with the total: `amount` if the payment is exact,
   * `atMost` if it has a ceiling.
   */
  readonly total: 'amount' | 'atMost'
  /** The expected primary type, if `expect` names none. */
  readonly primaryType: AnyPayment['primaryType']
  /**
   * The members that `expect` may have for this kind beside the common ones.
   */
  readonly expected: Readonly<Record<string, unknown>>
  /**
   * Parses a payment of this kind, signed or not.
   *
   * @throws {@link InvalidFieldError} when it is malformed or of another kind.
   */
  parse(value: unknown): AnyPayment
  /** The accounts that a payment names. */
  accounts(payment: AnyPayment): PaymentAccounts
  /** Builds the typed data that the payer's wallet signs. */
  typedData(payment: AnyPayment): SigningPayload
}

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
