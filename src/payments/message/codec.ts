import { parsePayment, parseWrittenPayment } from '../../core/fields.js'
import { toJson } from '../../core/toJson.js'
import type { Payment, SignedPayment } from '../../core/types.js'

/** More than any wallet's signature needs. */
const maxJsonLength = 65_536

/**
 * Writes a payment as JSON text, integers as decimal strings. This is the one
 * function that writes a signature out: treat the text as a credential.
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
 * Reads a payment, signed or not, from JSON text or from its parsed value.
 * Takes exactly the members `encodePayment` writes; addresses and bytes become
 * lower case.
 *
 * Says nothing about who signed or whether it can be captured.
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
    // Text that is not JSON is refused like any other: it is not an object.
  }
  return parseWrittenPayment(value)
}
