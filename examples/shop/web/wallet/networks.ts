import { developmentChainId } from '../api/chain.js'

/** Where the wallet can be; only on the first it signs. */
export const networks: readonly { chainId: number; name: string }[] = [
  { chainId: developmentChainId, name: 'Development chain' },
  { chainId: 8453, name: 'Base' },
]

export function networkName(chainId: number): string {
  const known = networks.find((network) => network.chainId === chainId)
  return known?.name ?? `Chain ${chainId}`
}
