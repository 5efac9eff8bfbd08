import type { PageToken } from '../web/pageData.js'

/**
 * What the server tells the merchant's pages, in a `meta` element. Nothing in
 * it is of an order, because everybody gets it.
 */
export type MerchantData = {
  /** Name of the shop. */
  name: string
  tokens: readonly PageToken[]
  /** Where all these pages are, relative to this one. */
  root: string
  /** True if the browser's session is enough, so that no key is needed. */
  isKnown: boolean
  canWrite: boolean
}
