import type { PageToken } from '../web/pageData.js'

/**
 * Data that the server puts into a `meta` element of the merchant's pages.
 * Contains no order data, because anyone can load it.
 */
export type MerchantData = {
  /** Name of the shop. */
  name: string
  tokens: readonly PageToken[]
  /** Path to the first page, relative to this one. */
  root: string
  /** True if the browser's session is enough, so that no key is needed. */
  isKnown: boolean
  canWrite: boolean
  /** True if the server has routes of subscriptions. */
  hasSubscriptions: boolean
}
