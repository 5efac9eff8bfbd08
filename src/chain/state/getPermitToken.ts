import type { Address, Client, Hex } from 'viem'
import type { TokenDomain } from '../../core/types.js'
import { word } from '../../core/words.js'
import { UnsupportedTokenError } from '../rpc/errors.js'
import { isWord } from './executor.js'
import { prober } from './getToken.js'
import { parseDecimals, parseTokenDomain, tokenProbes } from './probeToken.js'
import { runCalls } from './runCalls.js'
import { runCreated } from './runCreated.js'
import type { RunHead } from './types.js'

/** A token with permits (EIP-2612), and the permit nonce of one account. */
export type PermitToken = {
  domain: TokenDomain
  decimals: number
  /** The permit nonce that the account's next permit must have. */
  permitNonce: bigint
  /** The block at which these values were read. */
  head: RunHead
}

/**
 * `PERMIT_TYPEHASH` of DAI and similar tokens. Their permit allows everything
 * or nothing, so it cannot serve for a ceiling.
 */
const daiTypeHash: Hex =
  '0xea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb'

/** Selectors of `nonces(address)` and `PERMIT_TYPEHASH()`. */
const selectors = { nonces: '7ecebe00', typeHash: '30adf81f' } as const

/**
 * Gets a token's domain and decimals, and the next permit nonce of an account,
 * in one request.
 *
 * @throws {@link UnsupportedTokenError} when the token has no permit of
 * EIP-2612, or the one of DAI.
 * @throws {@link DomainMismatchError} when the token's domain cannot be proven.
 * @throws {@link NodeError} when the node does not answer.
 */
export async function getPermitToken(
  client: Client,
  token: Address,
  holder: Address,
): Promise<PermitToken> {
  const ask = (data: string) => ({ target: token, data, gas: 100_000 })
  const { head, calls } = await runCalls(client, {
    from: prober,
    block: 'latest',
    // Sends no fee fields: on nodes without state overrides, the address that
    // makes the calls has no ether to pay them.
    fees: {},
    fallback: runCreated,
    calls: {
      ...tokenProbes(token, prober),
      nonces: ask(selectors.nonces + word(holder)),
      typeHash: ask(selectors.typeHash),
    },
  })
  const { nonces, domainSeparator, typeHash } = calls
  if (typeHash.data === daiTypeHash)
    throw new UnsupportedTokenError({
      token,
      problem: 'has the permit of DAI, which cannot limit the amount',
    })
  if (!isWord(nonces) || !isWord(domainSeparator))
    throw new UnsupportedTokenError({
      token,
      problem: 'has no permit (EIP-2612)',
    })
  return {
    domain: parseTokenDomain(calls, { chainId: head.chainId, token }),
    decimals: parseDecimals(calls.decimals),
    permitNonce: BigInt(nonces.data),
    head,
  }
}
