import type { PageToken } from 'countersign/element'

/**
 * What the shop takes: USDC of the development chain, and nothing else. The
 * page is built with it, so no answer of a server makes a buyer sign for
 * another chain or token.
 */
export const token: PageToken = {
  chainId: 31337,
  chain: 'Development chain',
  explorer: undefined,
  token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  symbol: 'USDC',
  decimals: 6,
}
