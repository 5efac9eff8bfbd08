import type { Address } from 'viem'
import { devChainIds } from './clock.js'

/**
 * A token whose EIP-712 domain was compared with the token's
 * `DOMAIN_SEPARATOR()`.
 */
export type KnownToken = {
  chainId: number
  symbol: string
  /** EIP-712 domain name. USDC has different names on different chains. */
  name: string
  version: string
  decimals: number
  address: Address
}

type Usdc = readonly [chainId: number, address: Address, name?: string]

/**
 * What differs between the chains on which Circle issues USDC. An entry without
 * a name means `USD Coin`.
 */
const usdc: readonly Usdc[] = [
  [8453, '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'],
  [84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'USDC'],
  [1, '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
  [11155111, '0x1c7d4b196cb0c7b01d743fbc6116a902379c7238', 'USDC'],
  [10, '0x0b2c639c533813f4aa9d7837caf62653d097ff85'],
  [42161, '0xaf88d065e77c8cc2239327c5edb3a432268e5831'],
  [137, '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'],
  [43114, '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e'],
  [143, '0x754704bc059f8c67012fed69bc8a327a5aafb603', 'USDC'],
]

/**
 * USDC on networks where Circle issues it. Only a hint, for test data and for
 * explaining signatures. The name and version that the token itself returns,
 * proven by its separator, take precedence.
 */
export const knownTokens: readonly KnownToken[] = /* @__PURE__ */ usdc.map(
  ([chainId, address, name = 'USD Coin']) => ({
    chainId,
    symbol: 'USDC',
    name,
    version: '2',
    decimals: 6,
    address,
  }),
)

/**
 * Returns the known token at an address in lower case, to describe it to
 * people. On a development chain, also one of any network: `startDevChain` puts
 * its token at such an address.
 */
export function findKnownToken(
  chainId: number,
  token: Address,
): KnownToken | undefined {
  return knownTokens.find(
    (one) =>
      one.address === token &&
      (one.chainId === chainId || devChainIds.includes(chainId)),
  )
}
