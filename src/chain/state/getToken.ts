import type { Address, Client } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { TokenDomain } from '../../core/types.js'
import { UnsupportedTokenError } from '../rpc/errors.js'
import {
  parseCapabilities,
  parseTokenDomain,
  tokenProbes,
} from './probeToken.js'
import { runCalls } from './runCalls.js'
import { runCreated } from './runCreated.js'
import type { RunHead, TokenCapabilities } from './types.js'

/**
 * A token as its contract describes it. If the token has a
 * `DOMAIN_SEPARATOR()`, the domain is proven to hash to it.
 */
export type Token = {
  domain: TokenDomain
  decimals: number
  capabilities: TokenCapabilities
}

/** The token that {@link getToken} reads. */
export type GetTokenParameters = {
  /** Address of the token contract. */
  token: Address
}

/**
 * An arbitrary address from which the calls that examine a token are simulated.
 */
export const prober: Address = '0x3009000000000000000000000000000000003009'

const cacheMilliseconds = 600_000
const cache = /* @__PURE__ */ new WeakMap<object, Map<Address, CachedToken>>()

type TokenAndHead = { token: Token; head: RunHead }

type Probe = { answer: Promise<TokenAndHead>; since: number }

/**
 * The requests in progress that examine a token, so that simultaneous first
 * callers share one.
 */
const probing = /* @__PURE__ */ new WeakMap<object, Map<Address, Probe>>()

/**
 * Milliseconds for which later callers share a request in progress. After that
 * they send their own, because the first may never end.
 */
const longestShare = 1_000

/** `since`: milliseconds of `performance.now()`. */
type CachedToken = { token: Token; since: number }

/**
 * Reads a token's EIP-712 domain, decimals and capabilities in one request; on
 * nodes without state overrides the first call needs two.
 *
 * Candidates for the domain are `eip712Domain()` (ERC-5267), `name()` with
 * `version()` or usual versions, and the names of known tokens. Takes the first
 * candidate that hashes to the token's `DOMAIN_SEPARATOR()`. A token without a
 * separator must return its domain itself. Each client remembers the result for
 * at most ten minutes.
 *
 * @throws {@link UnsupportedTokenError} when there is no EIP-3009 token at the
 * address.
 * @throws {@link DomainMismatchError} when no candidate gives the separator.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed.
 *
 * @example
 * ```ts
 * import { getToken } from 'countersign'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 * const { domain, decimals } = await getToken(client, {
 *   token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 * })
 * ```
 */
export async function getToken(
  client: Client,
  parameters: GetTokenParameters,
): Promise<Token> {
  checkMembers(parameters, ['token'])
  const token = parseCheckedAddress(Object(parameters).token, 'token')
  const { domain, decimals, capabilities } =
    cachedToken(client, token) ?? (await getTokenAndHead(client, token)).token
  // Returns a copy, so that a caller who changes it does not change the cache.
  return { domain: { ...domain }, decimals, capabilities: { ...capabilities } }
}

/** Gets the token and the newest block in one request. */
export async function getTokenAndHead(
  client: Client,
  token: Address,
): Promise<TokenAndHead> {
  const known = cachedToken(client, token)
  if (known) {
    const { head } = await runCalls(client, { ...run, calls: {} })
    return { token: known, head }
  }
  const probes = probing.get(client) ?? new Map<Address, Probe>()
  probing.set(client, probes)
  const now = performance.now()
  const running = probes.get(token)
  if (running && now - running.since < longestShare) return running.answer
  const answer = probeTokenAndHead(client, token).finally(() =>
    probes.delete(token),
  )
  probes.set(token, { answer, since: now })
  return answer
}

const run = {
  from: prober,
  block: 'latest',
  // Sends no fee fields: on nodes without state overrides, the address that
  // makes the calls has no ether to pay them.
  fees: {},
  fallback: runCreated,
} as const

async function probeTokenAndHead(
  client: Client,
  token: Address,
): Promise<TokenAndHead> {
  const calls = tokenProbes(token, prober)
  const { head, calls: probes } = await runCalls(client, { ...run, calls })
  const { capabilities, decimals } = parseCapabilities(probes)
  if (!probes.code.hasCode || (!capabilities.receive && !capabilities.transfer))
    throw new UnsupportedTokenError({
      token,
      problem: probes.code.hasCode
        ? 'has neither receiveWithAuthorization nor transferWithAuthorization'
        : `has no code on chain ${head.chainId}`,
    })
  const found: Token = {
    domain: parseTokenDomain(probes, { chainId: head.chainId, token }),
    decimals,
    capabilities,
  }
  const tokens = cache.get(client) ?? new Map<Address, CachedToken>()
  cache.set(
    client,
    tokens.set(token, { token: found, since: performance.now() }),
  )
  return { token: found, head }
}

/**
 * Removes a token from the cache. Call it when an answer of the token
 * contradicts the cached value.
 */
export function forgetToken(client: Client, token: Address): void {
  cache.get(client)?.delete(token)
  probing.get(client)?.delete(token)
}

function cachedToken(client: Client, token: Address): Token | undefined {
  const known = cache.get(client)?.get(token)
  return known && performance.now() - known.since < cacheMilliseconds
    ? known.token
    : undefined
}
