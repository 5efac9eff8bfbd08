import { parseCancellation, parsePayment } from '../../core/fields.js'
import { toJson } from '../../core/toJson.js'
import { typedDataTypes } from '../../core/typedDataTypes.js'
import type { Cancellation, Payment, TokenDomain } from '../../core/types.js'

type TypedDataField = { readonly name: string; readonly type: string }

/** The payload of `eth_signTypedData_v4`, ready for `JSON.stringify`. */
export type PaymentTypedData = {
  types: { EIP712Domain: readonly TypedDataField[] } & Record<
    string,
    readonly TypedDataField[]
  >
  primaryType: Payment['primaryType'] | Cancellation['primaryType']
  domain: TokenDomain
  /** The message to sign, its integers as decimal strings. */
  message: Record<string, string>
}

/**
 * Builds the complete typed data of a payment or a cancellation for wallets.
 * Includes the `EIP712Domain` type, because some wallets hash an empty domain
 * without it. Integers are decimal strings; the chain id is a number.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { decodePayment, paymentTypedData } from 'countersign'
 *
 * const payload = (json: string) =>
 *   JSON.stringify(paymentTypedData(decodePayment(json)))
 * ```
 */
export function paymentTypedData(
  payment: Payment | Cancellation,
): PaymentTypedData {
  return JSON.parse(
    toJson(
      addTypes(
        payment?.primaryType === 'CancelAuthorization'
          ? parseCancellation(payment)
          : parsePayment(payment),
      ),
    ),
  )
}

/** Typed data with its types; integers are `bigint`. */
export type SigningPayload = Pick<PaymentTypedData, 'types' | 'domain'> & {
  primaryType: string
  message: Record<string, unknown>
}

/**
 * Adds the EIP-712 types of a message; integers stay `bigint`. Returns a copy,
 * so that a signer cannot change the payment.
 */
export function addTypes({
  primaryType,
  domain,
  message,
}: Payment | Cancellation): SigningPayload {
  const types = {
    EIP712Domain: copyFields(typedDataTypes.EIP712Domain),
    [primaryType]: copyFields(typedDataTypes[primaryType]),
  }
  return { types, primaryType, domain: { ...domain }, message: { ...message } }
}

function copyFields(fields: readonly TypedDataField[]): TypedDataField[] {
  return fields.map((field) => ({ ...field }))
}
