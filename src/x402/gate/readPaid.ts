import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import type { Hex } from 'viem'
import type { SignedPayment } from '../../core/types.js'
import {
  decodePaymentHeader,
  mostHeaderLength,
  oldPaymentHeader,
  paymentHeader,
} from '../wire/headers.js'
import { orderIdOf } from '../wire/orderIdOf.js'
import { matchTerms } from '../wire/requirements.js'
import { toSignedPayment } from '../wire/toSignedPayment.js'
import { type Asked, refuse, requirePayment } from './answers.js'
import { digestBody, hashBinding } from './bindRequest.js'
import { identifierKey, parseIdentifier } from './identifier.js'
import type { GateContext, Terms } from './types.js'

/**
 * A request whose payment is well formed and matches the offer, or the answer
 * that refuses it. The signature is not verified yet.
 */
export type ReadRequest =
  | { ok: false; response: Response }
  | {
      ok: true
      terms: Terms
      /**
       * True when the payment was accepted before and its offer has changed
       * since.
       */
      isRecorded: boolean
      payment: SignedPayment
      /** Hash of everything that the payment is bound to. */
      bound: Hex
      /** Hash of the payment payload alone. */
      payload: Hex
      /**
       * Key of the stored record that says which payment uses this payment
       * identifier. Absent if the client sent none.
       */
      identifier: string | undefined
    }

/**
 * Parses the payment of a request. Sends no request to a node and writes
 * nothing. Reads the store only if the terms of the payment are no longer
 * offered.
 */
export async function readPaid(
  gate: GateContext,
  request: Request,
  asked: Asked,
): Promise<ReadRequest> {
  const { keccak256 } = gate.context
  const refused = (response: Response): ReadRequest => ({
    ok: false,
    response,
  })
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
    header.length > mostHeaderLength
      ? ({ ok: false, code: 'invalid_payload' } as const)
      : decodePaymentHeader(header, keccak256)
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
  if (request.headers.has('range'))
    return refused(refuse(400, 'range_not_sold'))
  const { payload, hash } = decoded
  const offered: PaymentRequirements[] = asked.terms.map(
    ({ requirements }) => requirements,
  )
  const matched = matchTerms(offered, payload)
  if (!matched.ok)
    return (
      (await findRecorded(gate, { request, asked, payload, hash })) ??
      refused(requirePayment(asked, matched.code))
    )
  const terms = asked.terms[matched.index] ?? asked.terms[0]
  const found = toSignedPayment(payload, terms.token.domain)
  if (!found.ok) return refused(requirePayment(asked, found.code))

  const identifier = parseIdentifier(payload)
  if (identifier === false)
    return refused(refuse(400, 'invalid_payment_identifier'))
  if (identifier === undefined && terms.offer.identifier === 'required')
    return refused(refuse(400, 'payment_identifier_required'))

  const body = await digestBody(request, gate.mostRequestBytes)
  if (body === undefined) return refused(refuse(413, 'request_too_long'))
  const { payment } = found
  return {
    ok: true,
    terms,
    isRecorded: false,
    payment,
    payload: hash,
    bound: hashBinding(
      {
        offer: terms.offer.name,
        method: request.method,
        resource: asked.resource,
        body,
        payload: hash,
      },
      keccak256,
    ),
    identifier:
      identifier === undefined
        ? undefined
        : identifierKey(payment.message.from, identifier),
  }
}

/** A payment whose terms are no longer offered. */
type Unmatched = {
  request: Request
  asked: Asked
  payload: PaymentPayload
  hash: Hex
}

/**
 * Finds a payment that was accepted for this same request before the offer
 * changed. The client agreed to the old terms, so they stay valid for it.
 */
async function findRecorded(
  gate: GateContext,
  { request, asked, payload, hash }: Unmatched,
): Promise<ReadRequest | undefined> {
  const { keccak256 } = gate.context
  for (const terms of asked.terms) {
    const found = toSignedPayment(payload, terms.token.domain)
    if (!found.ok) continue
    const { payment } = found
    const { nonce, value } = payment.message
    const { note } = await gate.loadKnown({
      orderId: orderIdOf(payment, keccak256),
      nonce,
      payload: hash,
      identifier: undefined,
    })
    if (note?.data.offer !== terms.offer.name) continue
    const body = await digestBody(request, gate.mostRequestBytes)
    if (body === undefined) continue
    const bound = hashBinding(
      {
        offer: note.data.offer,
        method: request.method,
        resource: asked.resource,
        body,
        payload: hash,
      },
      keccak256,
    )
    if (note.data.bound !== bound) continue
    const { paymentFlow } = payload.accepted.extra ?? {}
    const flow = paymentFlow === 'upfront' ? 'upfront' : 'authorization'
    return {
      ok: true,
      terms: { ...terms, offer: { ...terms.offer, flow }, value },
      isRecorded: true,
      payment,
      payload: hash,
      bound,
      identifier: undefined,
    }
  }
  return undefined
}
