import type { PaymentPayload } from '@x402/core/types'
import { InvalidFieldError } from '../../core/errors.js'
import type { SignedPayment, TokenDomain } from '../../core/types.js'
import { decodePayment } from '../../payments/message/codec.js'
import type { X402ErrorCode } from './errorCodes.js'
import { isObject } from './headers.js'

/** The payment in a payload, or why it is refused. */
export type FoundPayment =
  | { ok: true; payment: SignedPayment }
  | { ok: false; code: X402ErrorCode }

/**
 * Turns a payload of the exact scheme into a payment. The caller passes the
 * token domain: the payload has none, and one from the client would prove
 * nothing.
 */
export function toSignedPayment(
  { payload }: Pick<PaymentPayload, 'payload'>,
  domain: TokenDomain,
): FoundPayment {
  const { authorization, signature } = payload
  if (!isObject(authorization))
    return {
      ok: false,
      // A payload with other members is one of another transfer method, such as
      // Permit2.
      code:
        Object.keys(payload).length > 0
          ? 'unsupported_payload_type'
          : 'invalid_payload',
    }
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  try {
    const payment = decodePayment({
      primaryType: 'TransferWithAuthorization',
      domain,
      message: { from, to, value, validAfter, validBefore, nonce },
      signature,
    })
    return 'signature' in payment
      ? { ok: true, payment }
      : { ok: false, code: 'invalid_payload' }
  } catch (error) {
    if (error instanceof InvalidFieldError)
      return { ok: false, code: 'invalid_payload' }
    throw error
  }
}

/**
 * Turns a payment into a payload of the exact scheme, for clients and tests.
 * The inverse of {@link toSignedPayment}.
 */
export function toExactPayload({
  message,
  signature,
}: SignedPayment): Record<string, unknown> {
  const { from, to, nonce } = message
  return {
    signature,
    authorization: {
      from,
      to,
      value: String(message.value),
      validAfter: String(message.validAfter),
      validBefore: String(message.validBefore),
      nonce,
    },
  }
}
