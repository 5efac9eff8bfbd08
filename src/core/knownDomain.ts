import type { Address } from 'viem'

type Start = readonly [chainId: number, start: string, name?: string]

/**
 * The first bytes of the addresses of known tokens. An entry without a name
 * means `USD Coin`. Web pages load this table, and whole addresses would make
 * it 167 bytes larger.
 */
const starts: readonly Start[] = [
  [8453, '0x833589fc'],
  [84532, '0x036cbd53', 'USDC'],
  [1, '0xa0b86991'],
  [11155111, '0x1c7d4b19', 'USDC'],
  [10, '0x0b2c639c'],
  [42161, '0xaf88d065'],
  [137, '0x3c499c54'],
  [43114, '0xb97ef9ef'],
  [143, '0x754704bc', 'USDC'],
]

/**
 * Returns name and version in the EIP-712 domain of a known token, given its
 * address in lower case. Compares only the first bytes, so another contract can
 * match by chance. That is safe: callers only use the answer to refuse a domain
 * that differs.
 */
export function knownDomain(
  chainId: number,
  address: Address,
): { name: string; version: string } | undefined {
  const known = starts.find(
    ([chain, start]) => chain === chainId && address.startsWith(start),
  )
  return known && { name: known[2] ?? 'USD Coin', version: '2' }
}
