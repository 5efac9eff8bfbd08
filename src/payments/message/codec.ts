import { parsePayment, parseWrittenPayment } from '../../core/fields.js'
import { toJson } from '../../core/toJson.js'
import type { Payment, SignedPayment } from '../../core/types.js'

/**
 * Longest accepted JSON text, in characters: enough for the signature of any
 * wallet.
 */
const maxJsonLength = 65_536

/**
 * Encodes a payment as JSON text, with integers as decimal strings. The text
 * contains the signature: treat it as a credential.
 *
 * @throws {@link InvalidFieldError} when the payment is malformed.
 *
 * @example
 * ```ts
 * import { encodePayment, type SignedPayment } from 'countersign'
 *
 * const send = (payment: SignedPayment) =>
 *   fetch('/orders/1/payment', { method: 'POST', body: encodePayment(payment) })
 * ```
 */
export function encodePayment(payment: Payment | SignedPayment): string {
  return toJson(parsePayment(payment))
}

/**
 * Decodes a payment, signed or not, from JSON text or its parsed value. Accepts
 * exactly the members that `encodePayment` writes. Addresses and bytes become
 * lower case.
 *
 * Does not check the signature or whether the payment can be captured.
 *
 * @throws {@link InvalidFieldError} when the text is not JSON, or a member is
 * missing, unknown or malformed.
 *
 * @example
 * ```ts
 * import { decodePayment } from 'countersign'
 *
 * const payment = decodePayment(await (await fetch('/orders/1')).text())
 * if ('signature' in payment) throw new Error('already signed')
 * ```
 */
export function decodePayment(json: unknown): Payment | SignedPayment {
  let value = json
  try {
    if (typeof json === 'string' && json.length <= maxJsonLength)
      value = JSON.parse(json)
  } catch {
    // Ignores text that is not JSON: it is refused below, because it is not an
    // object.
  }
  return parseWrittenPayment(value)
}
