import type { ChainHealth } from './nodeHealth.js'

/**
 * Most blocks by which a healthy node may lag behind the newest block that the
 * database knows. A larger lag means another chain.
 */
const mostBehind = 16n

type Seen = { chainId: number; reconciledTo: bigint | undefined }

/**
 * Adds a fault if the node's newest block is far below one that the database
 * has seen. The usual cause is a development chain that was reset while its
 * database stayed.
 */
export function findBehind(
  chain: ChainHealth,
  destinations: readonly Seen[],
): ChainHealth {
  if (chain.fault !== undefined || chain.block === undefined) return chain
  const seen = destinations
    .filter(({ chainId }) => chainId === chain.chainId)
    .flatMap(({ reconciledTo }) => reconciledTo ?? [])
    .reduce((most, block) => (block > most ? block : most), 0n)
  if (seen - chain.block <= mostBehind) return chain
  return {
    ...chain,
    fault: `the newest block is ${chain.block}, but this database has seen block ${seen}: if the chain was reset, begin with an empty database; otherwise the node is behind`,
    faultKind: 'behindDatabase',
  }
}
