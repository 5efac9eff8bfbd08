import type { PaymentPayload } from '@x402/core/types'
import type { Hex } from 'viem'
import {
  decodePaymentHeader,
  longestHeader,
  oldPaymentHeader,
  paymentHeader,
} from '../wire/headers.js'
import { refuse, requirePayment } from './answers.js'
import type { Asked, GateContext } from './types.js'

/** The payload of a request's payment, or the answer that refuses it. */
export type ReadHeader =
  | { ok: false; response: Response }
  | {
      ok: true
      payload: PaymentPayload
      /** Hash of the payload. */
      hash: Hex
    }

/** Decodes the payment header of a request, whatever its scheme. */
export function readHeader(
  { context }: Pick<GateContext, 'context'>,
  request: Request,
  asked: Asked,
): ReadHeader {
  const refused = (response: Response): ReadHeader => ({ ok: false, response })
  // A `HEAD` answer has no body, so there is nothing to sell.
  if (request.method === 'HEAD') return refused(requirePayment(asked))
  const header = request.headers.get(paymentHeader)
  if (header === null) {
    if (!request.headers.has(oldPaymentHeader))
      return refused(requirePayment(asked))
    const message = `Version 1 of x402 (${oldPaymentHeader}) is not supported. Pay with version 2 (${paymentHeader}).`
    return refused(requirePayment(asked, 'invalid_x402_version', { message }))
  }
  const decoded =
    header.length > longestHeader
      ? ({ ok: false, code: 'invalid_payload' } as const)
      : decodePaymentHeader(header, context.keccak256)
  if (!decoded.ok) {
    const message =
      decoded.code === 'invalid_x402_version'
        ? 'Only version 2 of x402 is supported.'
        : undefined
    return refused(
      requirePayment(asked, decoded.code, message ? { message } : {}),
    )
  }
  // Refuses a request for part of the answer (`Range`). The gate would store
  // that part, and later return it to a client that asks for the whole.
  return request.headers.has('range')
    ? refused(refuse(400, 'range_not_sold'))
    : decoded
}
