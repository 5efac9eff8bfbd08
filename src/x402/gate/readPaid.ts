import type { PaymentRequirements } from '@x402/core/types'
import type { Hex } from 'viem'
import { getToken, type Token } from '../../chain/state/getToken.js'
import type { SignedPayment } from '../../core/types.js'
import { flowOf, matchTerms, networkOf } from '../wire/requirements.js'
import { toSignedPayment } from '../wire/toSignedPayment.js'
import { refuse, requirePayment } from './answers.js'
import { digestBody, hashBinding } from './bindRequest.js'
import { identifierKey, parseIdentifier } from './identifier.js'
import type { ReadHeader } from './readHeader.js'
import type { Asked, Exchange, GateContext, Refusal, Terms } from './types.js'

/**
 * A request with a well-formed payment, or the answer that refuses it. The
 * signature is not verified yet.
 */
export type ReadRequest =
  | { ok: false; response: Response }
  | {
      ok: true
      /** The offered terms that the payment matches, or else the first ones. */
      terms: Terms
      /**
       * Refuses the payment unless it is on record. Absent if it may be
       * accepted.
       */
      refusal: Refusal | undefined
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
      /**
       * Returns the terms on which a payment on record was accepted, even if
       * they are no longer offered. Returns `undefined` if the record is about
       * another request.
       */
      recordedTerms: (
        recorded: Pick<Exchange, 'offer' | 'bound'>,
      ) => Terms | undefined
    }

/**
 * Parses the exact payment of a request. Does not use the store. Asks a node at most
 * for the token of a payment whose terms are not offered.
 */
export async function readPaid(
  gate: GateContext,
  request: Request,
  asked: Asked,
  read: Pick<Extract<ReadHeader, { ok: true }>, 'payload' | 'hash'>,
): Promise<ReadRequest> {
  const { keccak256 } = gate.context
  const refused = (response: Response): ReadRequest => ({
    ok: false,
    response,
  })
  const { payload, hash } = read
  const open = asked.getOpen()
  const matched = matchTerms(
    open.map(({ requirements }) => requirements),
    payload,
  )
  const terms = (matched.ok && open[matched.index]) || asked.terms[0]
  // If the terms are not offered, the payment may still be on record: its
  // client agreed to terms that were offered then, and they stay valid for it.
  const code = matched.ok ? undefined : matched.code
  const unmatched = code && (() => requirePayment(asked, code))
  const token = code ? await findToken(gate, payload.accepted) : terms.token
  if (!token) return refused(requirePayment(asked, code))
  const found = toSignedPayment(payload, token.domain)
  if (!found.ok) return refused(requirePayment(asked, code ?? found.code))
  const { payment } = found

  const identifier = matched.ok ? parseIdentifier(payload) : undefined
  if (identifier === false)
    return refused(refuse(400, 'invalid_payment_identifier'))
  const isUnnamed =
    identifier === undefined && terms.offer.identifier === 'required'
  const unnamed = () => refuse(400, 'payment_identifier_required')

  const digest = await digestBody(request, gate.mostRequestBytes)
  if (digest === undefined)
    return refused(unmatched?.() ?? refuse(413, 'request_too_long'))
  const bind = (offer: string, body = digest.body): Hex =>
    hashBinding(
      {
        offer,
        method: request.method,
        resource: asked.resource,
        body,
        payload: hash,
      },
      keccak256,
    )
  return {
    ok: true,
    terms,
    refusal: unmatched ?? (isUnnamed ? unnamed : undefined),
    payment,
    payload: hash,
    bound: bind(terms.offer.name),
    identifier:
      identifier === undefined
        ? undefined
        : identifierKey(payment.message.from, identifier),
    recordedTerms: ({ offer: name, bound }) => {
      const named = asked.terms.find(({ offer }) => offer.name === name)
      // Records of earlier versions are bound to the bytes of a form.
      const isSame = bound === bind(name) || bound === bind(name, digest.bytes)
      if (!named || !isSame) return undefined
      const flow = flowOf(payload.accepted)
      const { value } = payment.message
      return { ...named, offer: { ...named.offer, flow }, token, value }
    },
  }
}

/**
 * Returns the token that a client names in the terms it accepted. Returns
 * `undefined` if these orders do not have it.
 */
async function findToken(
  { context }: GateContext,
  { network, asset }: PaymentRequirements,
): Promise<Token | undefined> {
  const known = context.tokens.find(
    ({ chainId, token }) =>
      networkOf(chainId) === network && token === asset.toLowerCase(),
  )
  return known && getToken(known.client, { token: known.token })
}
