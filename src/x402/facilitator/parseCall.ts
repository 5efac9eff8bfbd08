import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import type { Address } from 'viem'
import { InvalidFieldError } from '../../core/errors.js'
import { parseAddress } from '../../core/fields.js'
import type { SignedPayment, TokenDomain } from '../../core/types.js'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import { isObject, parsePaymentPayload } from '../wire/headers.js'
import { chainIdOf } from '../wire/requirements.js'
import { toSignedPayment } from '../wire/toSignedPayment.js'

/** What `/verify` and `/settle` are asked about, in our words. */
export type FacilitatorCall = {
  /** Under the domain that the requirements name, which nothing proves yet. */
  payment: SignedPayment
  recipient: Address
  /** Token units that are asked for. */
  value: bigint
  /** What the payment is for, by the server's own words. */
  resource: string
}

/** What is asked, or why it is refused before anything is looked up. */
export type ParsedCall = Repeated & { ok: true; call: FacilitatorCall }
  | (Repeated & { ok: false; code: X402ErrorCode })

/** What answers repeat, as it was spelled. */
type Repeated = {
  network: PaymentRequirements['network']
  payer: string | undefined
}

/**
 * Parses the body of `/verify` and `/settle`. First match wins, in the order in
 * which the facilitator of `@x402/evm` checks.
 */
export function parseCall(body: unknown): ParsedCall {
  if (!isObject(body)) return { ok: false, code: 'invalid_payload' }
  const { x402Version, paymentPayload, paymentRequirements } = body
  if (x402Version !== undefined && x402Version !== 2)
    return { ok: false, code: 'invalid_x402_version' }
  const parsed = parsePaymentPayload(paymentPayload)
  if (!parsed.ok) return parsed
  const { payload } = parsed
  const terms = parseTerms(paymentRequirements)
  if (!terms) return { ok: false, code: 'invalid_payment_requirements' }
  const payer = payerOf(payload)
  const refuse = (code: X402ErrorCode): ParsedCall => ({
    ok: false,
    code,
    payer,
  })
  if (payload.accepted.scheme !== 'exact' || terms.scheme !== 'exact')
    return refuse('invalid_exact_evm_scheme')
  const domain = domainOf(terms)
  if (domain === 'none') return refuse('invalid_exact_evm_missing_eip712_domain')
  if (payload.accepted.network !== terms.network)
    return refuse('invalid_exact_evm_network_mismatch')
  if (!domain) return refuse('invalid_network')
  const found = toSignedPayment(payload, domain)
  if (!found.ok) return refuse(found.code)
  const { asset: _, ...rest } = terms
  return {
    ok: true,
    call: {
      network: rest.network,
      payment: found.payment,
      recipient: rest.recipient,
      value: rest.value,
      resource: payload.resource?.url ?? '',
    },
  }
}

type Terms = Pick<PaymentRequirements, 'scheme' | 'network' | 'extra'> & {
  asset: Address
  recipient: Address
  value: bigint
}

/** The terms that payments are held to; `undefined` when malformed. */
function parseTerms(given: unknown): Terms | undefined {
  if (!isObject(given)) return undefined
  const { scheme, network, asset, payTo, amount, extra } = given
  const isNamed = isText(scheme) && isNetwork(network)
  if (!isNamed || !isText(amount) || !/^(0|[1-9]\d{0,77})$/.test(amount))
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

/** The domain that the terms name; nothing on a network that is no EVM chain. */
function domainOf({
  network,
  asset,
  extra,
}: Terms): TokenDomain | 'none' | undefined {
  const { name, version } = extra
  if (!isText(name) || !isText(version)) return 'none'
  const chainId = chainIdOf(network)
  return chainId === undefined
    ? undefined
    : { name, version, chainId, verifyingContract: asset }
}

/** As the payload spells it, where it is an address: answers repeat it. */
function payerOf({ payload }: PaymentPayload): string | undefined {
  const { from } = isObject(payload.authorization) ? payload.authorization : {}
  return typeof from === 'string' && /^0x[\da-f]{40}$/i.test(from)
    ? from
    : undefined
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== ''

const isNetwork = (value: unknown): value is `${string}:${string}` =>
  isText(value) && value.includes(':')
