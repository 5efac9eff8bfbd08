import { readSignedPayment } from '../../core/fields.js'
import type { SignedPayment } from '../../core/types.js'
import { decodePayment } from '../../payments/message/codec.js'

/**
 * A signed payment as it came: JSON text, its parsed value, or the object
 * `signPayment` gives.
 *
 * @throws {@link InvalidFieldError} when it is malformed, or not signed.
 */
export function readGivenPayment(given: unknown): SignedPayment {
  const { value } = Object(Object(given).message)
  // JSON has no such integers: only an object of this process can.
  return readSignedPayment(
    typeof value === 'bigint' ? given : decodePayment(given),
  )
}
