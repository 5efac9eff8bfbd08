import { parseWrittenPayment } from '../core/fields.js'
import { toJson } from '../core/toJson.js'
import { parseCheckoutPayment } from './parseCheckoutPayment.js'
import { parsePermitPayment } from './parsePermitPayment.js'
import type {
  CheckoutPayment,
  PermitPayment,
  SignedCheckoutPayment,
  SignedPermitPayment,
} from './types.js'

/**
 * Longest accepted JSON text, in characters: enough for the signature of any
 * wallet.
 */
const maxJsonLength = 65_536

/**
 * Encodes a checkout payment as JSON text, with integers as decimal strings.
 * The text contains the signature: treat it as a credential.
 *
 * @throws {@link InvalidFieldError} when the payment is malformed.
 *
 * @example
 * ```ts
 * import { encodeCheckoutPayment, type SignedCheckoutPayment } from 'countersign/checkout'
 *
 * const send = (payment: SignedCheckoutPayment) =>
 *   fetch('/orders/1/payment', {
 *     method: 'POST',
 *     body: encodeCheckoutPayment(payment),
 *   })
 * ```
 */
export function encodeCheckoutPayment(
  payment: CheckoutPayment | SignedCheckoutPayment,
): string {
  return toJson(parseCheckoutPayment(payment))
}

/**
 * Decodes a checkout payment, signed or not, from JSON text or its parsed
 * value. Accepts exactly the members that `encodeCheckoutPayment` writes.
 *
 * Does not check the signature or whether the payment can be captured.
 *
 * @throws {@link InvalidFieldError} when the text is not JSON, or a member is
 * missing, unknown or malformed, or the message does not match the terms.
 *
 * @example
 * ```ts
 * import { decodeCheckoutPayment } from 'countersign/checkout'
 *
 * const read = async (response: Response) =>
 *   decodeCheckoutPayment(await response.text())
 * ```
 */
export function decodeCheckoutPayment(
  json: unknown,
): CheckoutPayment | SignedCheckoutPayment {
  const { checkout, ...rest } = Object(parseJson(json))
  return parseCheckoutPayment({ ...parseWrittenPayment(rest), checkout })
}

/**
 * Encodes a permit payment as JSON text, with integers as decimal strings. The
 * text contains the signature: treat it as a credential.
 *
 * @throws {@link InvalidFieldError} when the payment is malformed.
 *
 * @example
 * ```ts
 * import { encodePermitPayment, type SignedPermitPayment } from 'countersign/checkout'
 *
 * const send = (payment: SignedPermitPayment) =>
 *   fetch('/orders/1/payment', {
 *     method: 'POST',
 *     body: encodePermitPayment(payment),
 *   })
 * ```
 */
export function encodePermitPayment(
  payment: PermitPayment | SignedPermitPayment,
): string {
  return toJson(parsePermitPayment(payment))
}

/**
 * Decodes a permit payment, signed or not, from JSON text or its parsed value.
 * Accepts exactly the members that `encodePermitPayment` writes.
 *
 * Does not check the signature or whether the payment can be captured.
 *
 * @throws {@link InvalidFieldError} when the text is not JSON, or a member is
 * missing, unknown or malformed, or `to` is not the checkout contract of
 * recipient and operator.
 *
 * @example
 * ```ts
 * import { decodePermitPayment } from 'countersign/checkout'
 *
 * const read = async (response: Response) =>
 *   decodePermitPayment(await response.text())
 * ```
 */
export function decodePermitPayment(
  json: unknown,
): PermitPayment | SignedPermitPayment {
  const { checkout, primaryType, ...rest } = Object(parseJson(json))
  // Parses the payment as one of EIP-3009, because both have the same members.
  const written = { ...rest, primaryType: 'ReceiveWithAuthorization' }
  const payment = parseWrittenPayment(written)
  return parsePermitPayment({ ...payment, primaryType, checkout })
}

function parseJson(json: unknown): unknown {
  if (typeof json !== 'string' || json.length > maxJsonLength) return json
  try {
    return JSON.parse(json)
  } catch {
    // Returns text that is not JSON unchanged. The caller then refuses it,
    // because it is not a payment.
    return json
  }
}
