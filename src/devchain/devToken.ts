import { InvalidFieldError, shown } from '../core/errors.js'
import { type KnownToken, knownTokens } from '../core/knownTokens.js'
import type { DevNetwork } from './types.js'

const chainIds: Readonly<Record<DevNetwork, number>> = {
  base: 8453,
  baseSepolia: 84532,
  ethereum: 1,
  sepolia: 11155111,
  optimism: 10,
  arbitrum: 42161,
  polygon: 137,
  avalanche: 43114,
}

/**
 * Returns the USDC of a live network. The development chain gives its own token
 * the same address and name.
 */
export function devToken(network: DevNetwork): KnownToken {
  const token = knownTokens.find(
    ({ chainId, symbol }) => chainId === chainIds[network] && symbol === 'USDC',
  )
  if (token) return token
  const names = Object.keys(chainIds)
  throw new InvalidFieldError('network', shown(network), names)
}
