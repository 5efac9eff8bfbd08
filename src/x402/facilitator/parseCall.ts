import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import type { Address, Hash } from 'viem'
import { canonicalJson } from '../../core/canonicalJson.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parseAddress } from '../../core/fields.js'
import { hashText } from '../../core/hashText.js'
import type { SignedPayment, TokenDomain } from '../../core/types.js'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import { isObject, parsePaymentPayload } from '../wire/headers.js'
import { chainIdOf } from '../wire/requirements.js'
import { toSignedPayment } from '../wire/toSignedPayment.js'

/** A parsed request to `/verify` or `/settle`. */
export type FacilitatorCall = {
  /**
   * The payment, with the token domain that the requirements name. That domain
   * is not compared with the token's own yet.
   */
  payment: SignedPayment
  recipient: Address
  /** The required value, in token units. */
  value: bigint
  /** The resource that the payment is for, as the server names it. */
  resource: string
  /**
   * Hash of the signed payload as received. A repeated call has the same hash.
   */
  payloadHash: Hash
  /**
   * True when the requirements allow an answer to a pre-confirmed payment,
   * before a block has it.
   */
  isEarly: boolean
}

/** Fields of the request that the answer contains unchanged. */
type Repeated = {
  network: PaymentRequirements['network']
  payer: string | undefined
}

/** The parsed call, or the error code of a malformed one. */
export type ParsedCall = Repeated &
  ({ ok: true; call: FacilitatorCall } | { ok: false; code: X402ErrorCode })

/**
 * Parses the body of `/verify` and `/settle`. Makes its checks in the same
 * order as the facilitator of `@x402/evm`, and returns the first error, so that
 * both return the same code.
 */
export function parseCall(body: unknown): ParsedCall {
  const { x402Version, paymentPayload, paymentRequirements } = isObject(body)
    ? body
    : {}
  const { network } = Object(paymentRequirements)
  const repeated: Repeated = {
    network: isNetwork(network) ? network : 'eip155:0',
    payer: payerOf(paymentPayload),
  }
  const refuse = (code: X402ErrorCode): ParsedCall => ({
    ...repeated,
    ok: false,
    code,
  })
  // Some servers leave out the version here. The payload states it too, and is
  // checked below.
  if (x402Version !== undefined && x402Version !== 2)
    return refuse('invalid_x402_version')
  const parsed = parsePaymentPayload(paymentPayload)
  if (!parsed.ok) return refuse(parsed.code)
  const terms = parseTerms(paymentRequirements)
  if (!terms) return refuse('invalid_payment_requirements')
  const found = findPayment(parsed.payload, terms)
  if (!found.ok) return refuse(found.code)
  const { payment } = found
  const { recipient, value } = terms
  const resource = parsed.payload.resource?.url ?? ''
  const payloadHash = hashText(canonicalJson(parsed.payload.payload))
  const isEarly = terms.extra.answerAt === 'preconfirmed'
  const call = { payment, recipient, value, resource, payloadHash, isEarly }
  return { ...repeated, ok: true, call }
}

function findPayment(
  payload: PaymentPayload,
  terms: Terms,
): ReturnType<typeof toSignedPayment> {
  const { accepted } = payload
  const { scheme, network, asset, extra } = terms
  if (accepted.scheme !== 'exact' || scheme !== 'exact')
    return { ok: false, code: 'invalid_exact_evm_scheme' }
  const { name, version } = extra
  if (!isText(name) || !isText(version))
    return { ok: false, code: 'invalid_exact_evm_missing_eip712_domain' }
  if (accepted.network !== network)
    return { ok: false, code: 'invalid_exact_evm_network_mismatch' }
  const chainId = chainIdOf(network)
  if (chainId === undefined) return { ok: false, code: 'invalid_network' }
  const domain: TokenDomain = {
    name,
    version,
    chainId,
    verifyingContract: asset,
  }
  return toSignedPayment(payload, domain)
}

type Terms = Pick<PaymentRequirements, 'scheme' | 'network' | 'extra'> & {
  asset: Address
  recipient: Address
  value: bigint
}

/** Parses the terms that a payment must meet; `undefined` when malformed. */
function parseTerms(given: unknown): Terms | undefined {
  if (!isObject(given)) return undefined
  const { scheme, network, asset, payTo, amount, extra } = given
  if (!isText(scheme) || !isNetwork(network) || !isAmount(amount))
    return undefined
  try {
    return {
      scheme,
      network,
      asset: parseAddress(asset, 'asset'),
      recipient: parseAddress(payTo, 'payTo'),
      value: BigInt(amount),
      extra: isObject(extra) ? extra : {},
    }
  } catch (error) {
    if (error instanceof InvalidFieldError) return undefined
    throw error
  }
}

/**
 * Returns the payer only if it is an address, because the answer repeats it.
 * Any other text may be a secret that the client put in the wrong field.
 */
function payerOf(payload: unknown): string | undefined {
  const { from } = Object(Object(Object(payload).payload).authorization)
  return typeof from === 'string' && /^0x[\da-f]{40}$/i.test(from)
    ? from
    : undefined
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== ''

/** Refuses an amount of zero: its capture would cost gas and pay nothing. */
const isAmount = (value: unknown): value is string =>
  isText(value) && /^[1-9]\d{0,77}$/.test(value)

/**
 * True for a CAIP-2 network name. The answer repeats the network only if it is
 * one: any other text may be a secret in the wrong field.
 */
const isNetwork = (value: unknown): value is `${string}:${string}` =>
  isText(value) && /^[-a-z\d]{3,8}:[-\w]{1,32}$/i.test(value)
