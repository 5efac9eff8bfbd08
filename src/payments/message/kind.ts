import type { Address } from 'viem'
import { parsePayment } from '../../core/fields.js'
import type { AnyPayment, Payment } from '../../core/types.js'
import { addTypes, type SigningPayload } from './paymentTypedData.js'

/** The accounts of a payment, besides its payer. */
type PaymentAccounts = {
  /** The account that is paid. */
  recipient: Address
  /** The only account that can capture; absent if anyone can. */
  operator: Address | undefined
}

/** The part of a payment kind that signing needs. */
export type SigningKind = {
  /**
   * Name of the member of `expect` that has the amount: `amount` for an exact
   * payment, `atMost` for one with a ceiling.
   */
  readonly total: 'amount' | 'atMost'
  /** The primary type that is expected if `expect` names none. */
  readonly primaryType: AnyPayment['primaryType']
  /**
   * Parses a payment of this kind, signed or not.
   *
   * @throws {@link InvalidFieldError} when it is malformed or of another kind.
   */
  parse(value: unknown): AnyPayment
  /** Returns the accounts that a payment names, besides its payer. */
  accounts(payment: AnyPayment): PaymentAccounts
  /** Builds the typed data that the payer's wallet signs. */
  typedData(payment: AnyPayment): SigningPayload
}

export const eip3009Signing: SigningKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  parse: parsePayment,
  accounts: accountsOf,
  typedData: (payment: Payment) => addTypes(payment),
}

/**
 * Members that `expect` has for this kind, in addition to those of all kinds.
 */
export function expectedOf({ total }: Pick<SigningKind, 'total'>): object {
  return { [total]: true, ...(total === 'atMost' && { operator: true }) }
}

/** Returns the accounts of a payment whose message names the recipient. */
export function accountsOf({ primaryType, message }: Payment): PaymentAccounts {
  const { to } = message
  return {
    recipient: to,
    operator: primaryType === 'ReceiveWithAuthorization' ? to : undefined,
  }
}
