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

/** Terms of the exact scheme, in our words. */
export type ExactTerms = {
  /** As the token proves it. */
  domain: TokenDomain
  recipient: Address
  /** Token units. */
  value: bigint
  flow: PaymentFlow
  /** Seconds from signing to `validBefore`. */
  maxTimeoutSeconds: number
}

/** Terms of the exact scheme as x402 writes them. */
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
      // Clients take a missing flow for `authorization`.
      ...(flow === 'authorization' ? {} : { paymentFlow: flow }),
    },
  }
}

/** A chain as x402 names it (CAIP-2). */
export function networkOf(chainId: number): `eip155:${number}` {
  return `eip155:${chainId}`
}

/** The chain of a network name; `undefined` when it is no EVM chain. */
export function chainIdOf(network: string): number | undefined {
  const [, digits] = /^eip155:([1-9]\d{0,15})$/.exec(network) ?? []
  const chainId = Number(digits)
  return Number.isSafeInteger(chainId) ? chainId : undefined
}

/** The offered terms that a payment names, or why there are none. */
export type MatchedTerms =
  | { ok: true; index: number }
  | { ok: false; code: X402ErrorCode }

/**
 * Finds the terms that the client says it accepted. They must equal an offer in
 * every member; what the client repeats is used for nothing else.
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
