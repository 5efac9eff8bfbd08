import type { Address } from 'viem'

type Start = readonly [chainId: number, start: string, name?: string]

/**
 * How the addresses of the known tokens begin. Without a name, it is `USD
 * Coin`. Web pages load this table: whole addresses would take 167 bytes more.
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
 * Name and version in the EIP-712 domain of a known token, given its address in
 * lower case. A stranger's address that begins alike gets them too: a check
 * against them can then refuse a good domain, and never accepts a wrong one.
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
