import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { type Address, getAddress } from 'viem'
import { canonicalJson } from '../../core/canonicalJson.js'
import type { TokenDomain } from '../../core/types.js'
import type { X402ErrorCode } from './errorCodes.js'

/**
 * When the payment is captured: after the handler has run (`authorization`) or
 * before (`upfront`).
 */
export type PaymentFlow = 'authorization' | 'upfront'

/**
 * Terms of a payment of the x402 scheme `exact`, under the names of this
 * library.
 */
export type ExactTerms = {
  /** EIP-712 domain of the token, compared with the token on chain. */
  domain: TokenDomain
  recipient: Address
  /** Amount in token units. */
  value: bigint
  flow: PaymentFlow
  /** Seconds from signing to `validBefore`. */
  maxTimeoutSeconds: number
}

/** Builds the x402 payment requirements (scheme exact) from these terms. */
export function requirementsOf(terms: ExactTerms): PaymentRequirements {
  const { domain, recipient, value, flow, maxTimeoutSeconds } = terms
  return {
    scheme: 'exact',
    network: networkOf(domain.chainId),
    asset: getAddress(domain.verifyingContract),
    amount: String(value),
    payTo: getAddress(recipient),
    maxTimeoutSeconds,
    extra: {
      name: domain.name,
      version: domain.version,
      // Left out for `authorization`, because x402 clients assume this flow if
      // none is given.
      ...(flow === 'authorization' ? {} : { paymentFlow: flow }),
    },
  }
}

/** Name of the x402 scheme by which a channel pays for many requests. */
export const channelScheme = 'batch-settlement'

/**
 * Terms of a payment of the x402 scheme `batch-settlement`, under the names of
 * this library.
 */
export type ChannelOfferTerms = Omit<ExactTerms, 'flow'> & {
  /** Account whose key signs claims and refunds. */
  receiverAuthorizer: Address
  /** Seconds from the start of the payer's withdrawal to its end. */
  withdrawDelay: number
  /** Least deposit, in token units. */
  minDeposit: bigint
}

/** Builds the x402 payment requirements (scheme batch-settlement). */
export function channelRequirementsOf({
  domain,
  recipient,
  value,
  maxTimeoutSeconds,
  receiverAuthorizer,
  withdrawDelay,
  minDeposit,
}: ChannelOfferTerms): PaymentRequirements {
  return {
    scheme: channelScheme,
    network: networkOf(domain.chainId),
    asset: getAddress(domain.verifyingContract),
    amount: String(value),
    payTo: getAddress(recipient),
    maxTimeoutSeconds,
    extra: {
      name: domain.name,
      version: domain.version,
      receiverAuthorizer: getAddress(receiverAuthorizer),
      // A number: clients take 900 for anything else, and the channel of their
      // vouchers would then have another id.
      withdrawDelay,
      minDeposit: String(minDeposit),
    },
  }
}

/** Returns the flow of terms that {@link requirementsOf} built. */
export function flowOf({
  extra,
}: Pick<PaymentRequirements, 'extra'>): PaymentFlow {
  return extra?.paymentFlow === 'upfront' ? 'upfront' : 'authorization'
}

/** Returns the CAIP-2 name of a chain. */
export function networkOf(chainId: number): `eip155:${number}` {
  return `eip155:${chainId}`
}

/**
 * Returns the chain id of a CAIP-2 network name. Returns `undefined` if it is
 * not an EVM chain.
 */
export function chainIdOf(network: string): number | undefined {
  const [, digits] = /^eip155:([1-9]\d{0,15})$/.exec(network) ?? []
  const chainId = Number(digits)
  return Number.isSafeInteger(chainId) ? chainId : undefined
}

/**
 * Index of the offered terms that a payment accepted, or the x402 error code.
 */
export type MatchedTerms =
  | { ok: true; index: number }
  | { ok: false; code: X402ErrorCode }

/**
 * Finds the offered terms that the client says it accepted. They must have
 * every member that was offered; clients may add more. Afterwards use the
 * offered terms, never the client's copy.
 */
export function matchTerms(
  offered: readonly PaymentRequirements[],
  { accepted }: Pick<PaymentPayload, 'accepted'>,
): MatchedTerms {
  const wanted = canonicalJson(accepted)
  const equal = offered.findIndex((one) => canonicalJson(one) === wanted)
  const index =
    equal >= 0 ? equal : offered.findIndex((one) => hasTerms(accepted, one))
  if (index >= 0) return { ok: true, index }
  const sameScheme = offered.filter(({ scheme }) => scheme === accepted.scheme)
  if (sameScheme.length === 0) return { ok: false, code: 'unsupported_scheme' }
  const isOffered = sameScheme.some(
    ({ network }) => network === accepted.network,
  )
  return {
    ok: false,
    code: isOffered ? 'invalid_payment_requirements' : 'invalid_network',
  }
}

/** True if the accepted terms have every member of the offered ones. */
function hasTerms(
  { extra: given, ...accepted }: PaymentRequirements,
  { extra, ...offered }: PaymentRequirements,
): boolean {
  // The flow is left out where it is `authorization`, but it is a term.
  const flow = { paymentFlow: 'authorization' }
  return (
    hasMembers(accepted, offered) &&
    hasMembers({ ...flow, ...given }, { ...flow, ...extra })
  )
}

const hasMembers = (given: object, wanted: object): boolean =>
  canonicalJson({ ...given, ...wanted }) === canonicalJson(given)
