import { devChainIds } from '../core/clock.js'
import { knownTokens } from '../core/knownTokens.js'
import type { PageToken } from '../pages/web/pageData.js'

const chainNames: Readonly<Record<number, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  137: 'Polygon',
  143: 'Monad',
  8453: 'Base',
  42161: 'Arbitrum One',
  43114: 'Avalanche',
  84532: 'Base Sepolia',
  11155111: 'Sepolia',
}

/**
 * Returns USDC on the chains where Circle issues it, and at the same addresses
 * on development chains, whose signatures are worthless elsewhere.
 */
export function knownPageTokens(): readonly PageToken[] {
  return knownTokens.flatMap(({ chainId, address, symbol, decimals }) =>
    [chainId, ...devChainIds].map((id) => ({
      chainId: id,
      chain: chainNames[id],
      explorer: undefined,
      token: address,
      symbol,
      decimals,
    })),
  )
}
