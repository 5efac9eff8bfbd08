import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { type Address, getAddress } from 'viem'
import { canonicalJson } from '../../core/canonicalJson.js'
import type { TokenDomain } from '../../core/types.js'
import type { X402ErrorCode } from './errorCodes.js'

/**
 * When the payment is captured: after the work (`authorization`) or before it
 * (`upfront`).
 */
export type PaymentFlow = 'authorization' | 'upfront'

/** Terms of a payment of the exact scheme, under the names of this library. */
export type ExactTerms = {
  /** EIP-712 domain of the token, checked against the chain. */
  domain: TokenDomain
  recipient: Address
  /** Token units. */
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
      // x402 clients take a missing flow for `authorization`.
      ...(flow === 'authorization' ? {} : { paymentFlow: flow }),
    },
  }
}

/** Returns the CAIP-2 name of a chain. */
export function networkOf(chainId: number): `eip155:${number}` {
  return `eip155:${chainId}`
}

/**
 * Returns the chain id of a network name; `undefined` if it is not an EVM
 * chain.
 */
export function chainIdOf(network: string): number | undefined {
  const [, digits] = /^eip155:([1-9]\d{0,15})$/.exec(network) ?? []
  const chainId = Number(digits)
  return Number.isSafeInteger(chainId) ? chainId : undefined
}

/** The offered terms that a payment accepted, or the error code. */
export type MatchedTerms =
  | { ok: true; index: number }
  | { ok: false; code: X402ErrorCode }

/**
 * Finds the offered terms that the client says it accepted. They must be equal
 * in every member. From then on only our own copy counts, never the client's.
 */
export function matchTerms(
  offered: readonly PaymentRequirements[],
  { accepted }: Pick<PaymentPayload, 'accepted'>,
): MatchedTerms {
  const wanted = canonicalJson(accepted)
  const index = offered.findIndex((one) => canonicalJson(one) === wanted)
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
