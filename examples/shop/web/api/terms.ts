import type { Address } from 'viem'

/** What the shop takes. */
export type ShopTerms = {
  chainId: number
  token: Address
  symbol: string
  decimals: number
  recipient: Address
  /** Seconds a payment can be signed and captured. */
  window: string
}

/** The build of the page puts the terms here. */
declare const shopTerms: ShopTerms

/**
 * The terms that the page was built with. Whatever the wallet signs is compared
 * with these: no response of a server changes them.
 */
export const terms: ShopTerms = shopTerms
