import type { PaymentRequired, SettleResponse } from '@x402/core/types'
import type { Hash } from 'viem'
import type { SignedPayment } from '../../core/types.js'
import { errorCodeOf, type X402ErrorCode } from '../wire/errorCodes.js'
import {
  encodeHeader,
  mostHeaderLength,
  requiredHeader,
  responseHeader,
} from '../wire/headers.js'
import { isCacheField } from '../wire/isCacheField.js'
import { networkOf } from '../wire/requirements.js'
import { X402SetupError } from './errors.js'
import { declareIdentifier, identifierName } from './identifier.js'
import { openResponse } from './keptResponse.js'
import { errorOf, markOwn } from './ownAnswers.js'
import { paymentLength, roomForAddress } from './paymentLength.js'
import type { Asked, Outcome, SettledOffer, Signal } from './types.js'

/** Seconds after which a client may ask again. */
const retryAfter = '1'

/**
 * Refuses a request whose URL is too long to pay for. A payment repeats the URL
 * in a header, of which the gate reads a limited number of characters.
 * Returns `undefined` if the URL is short enough.
 */
export function refuseAddress({
  terms,
  resource,
}: Asked): Response | undefined {
  // When the gate was created, every offer was checked to leave room for a URL
  // of this length.
  if (resource.length <= roomForAddress) return undefined
  const isTooLong = terms.every(({ offer, requirements }) => {
    const isRequired = offer.identifier === 'required'
    const described = describeOffer({ ...offer, isRequired }, resource)
    const length = paymentLength({ ...described, accepts: [requirements] })
    return length > mostHeaderLength
  })
  return isTooLong ? refuse(414, 'address_too_long') : undefined
}

/**
 * Builds a 402 answer with the payment requirements. Adds the reason if a
 * payment was refused.
 *
 * @throws {@link X402SetupError} when the recipients of all offers were removed.
 */
export function requirePayment(
  { getOpen, resource }: Asked,
  code?: X402ErrorCode,
  more: { message?: string; settled?: SettleResponse } = {},
): Response {
  const terms = getOpen()
  const [first] = terms
  if (!first)
    throw new X402SetupError(
      'sells nothing here, because the recipients of these offers were removed with changeRecipients',
    )
  const { offer } = first
  const isRequired = terms.some((one) => one.offer.identifier === 'required')
  const required: PaymentRequired = {
    x402Version: 2,
    error: code ?? 'Payment required',
    ...describeOffer({ ...offer, isRequired }, resource),
    accepts: terms.map(({ requirements }) => requirements),
  }
  const { message, settled } = more
  const body = message === undefined ? {} : { message }
  const response = Response.json(
    code === undefined ? {} : { error: code, ...body },
    {
      status: 402,
      headers: {
        [requiredHeader]: encodeHeader(required),
        'cache-control': 'no-store',
      },
    },
  )
  if (settled) response.headers.set(responseHeader, encodeHeader(settled))
  return markOwn(response, required.error ?? '')
}

type Described = Pick<SettledOffer, 'description' | 'mimeType'> & {
  isRequired: boolean
}

/** The part of a 402 answer that describes the resource on sale. */
export function describeOffer(
  { description, mimeType, isRequired }: Described,
  url: string,
): Pick<PaymentRequired, 'resource' | 'extensions'> {
  return {
    resource: {
      url,
      ...(description === undefined ? {} : { description }),
      ...(mimeType === undefined ? {} : { mimeType }),
    },
    extensions: { [identifierName]: declareIdentifier(isRequired) },
  }
}

/** Builds an answer that asks for no payment, with its reason as JSON. */
export function refuse(status: number, error: string): Response {
  const headers = {
    'cache-control': 'no-store',
    ...(status === 503 || status === 429 ? { 'retry-after': retryAfter } : {}),
  }
  return markOwn(Response.json({ error }, { status, headers }), error)
}

type Answered = {
  payment: SignedPayment
  /** The streamed answer, if this request is the one that gets it. */
  live: Response | undefined
}

/**
 * Builds the answer to a request from the outcome of its payment.
 *
 * @throws the value that the handler threw for its framework, such as a
 * redirect.
 */
export function answerOutcome(
  asked: Asked,
  { payment: { domain, message }, live }: Answered,
  outcome: Outcome,
): Response {
  const network = networkOf(domain.chainId)
  const payer = message.from
  const settled = (transaction: Hash): SettleResponse => ({
    success: true,
    transaction,
    network,
    payer,
    amount: String(message.value),
  })
  const unsettled = (errorReason: string, hash = ''): SettleResponse => ({
    success: false,
    errorReason,
    transaction: hash,
    network,
    payer,
  })
  switch (outcome.kind) {
    case 'paid': {
      const { response, transaction } = outcome
      const answer =
        live ?? (response ? openResponse(response) : refuse(409, 'answered'))
      return withSettlement(answer, settled(transaction))
    }
    case 'failed': {
      const { response, transaction } = outcome
      const answer = openResponse(response)
      return transaction
        ? withSettlement(answer, settled(transaction))
        : withPrivacy(answer)
    }
    case 'refused': {
      const code = errorCodeOf(outcome.reason)
      return requirePayment(asked, code, { settled: unsettled(code) })
    }
    case 'signal':
      throw thrownBy(outcome.signal)
    case 'gone':
      return requirePayment(asked, 'invalid_transaction_state')
    case 'pending': {
      // 503, not 402: after a 402 the client would sign again and pay twice.
      const pending = unsettled('settlement_pending', outcome.transaction)
      return withSettlement(refuse(503, 'settlement_pending'), pending)
    }
  }
}

/**
 * Copies a thrown response: several requests may wait for it, and its body can
 * be read only once.
 */
export function thrownBy({ thrown }: Signal): unknown {
  return thrown instanceof Response ? thrown.clone() : thrown
}

/** Adds the header that says how the payment ended. Keeps out of caches. */
export function withSettlement(
  response: Response,
  settled: SettleResponse,
): Response {
  const answer = withPrivacy(response)
  answer.headers.set(responseHeader, encodeHeader(settled))
  return answer
}

/**
 * Returns the answer with headers that keep it out of caches: a cache could
 * give a paid answer to others.
 */
export function withPrivacy(response: Response): Response {
  // A copy: the headers of a response that came from `fetch` cannot be changed.
  const answer = new Response(response.body, response)
  for (const name of [...answer.headers.keys()])
    if (isCacheField(name)) answer.headers.delete(name)
  answer.headers.set('cache-control', 'private, no-store')
  const error = errorOf(response)
  return error === undefined ? answer : markOwn(answer, error)
}
