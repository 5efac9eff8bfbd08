import type { Address } from 'viem'
import type { PageWords } from '../words/types.js'

/** A token that the shop takes, with what a page shows of it. */
export type PageToken = {
  chainId: number
  /** Name of the chain, if its client has one. */
  chain: string | undefined
  /** Address of a site that shows transactions of the chain. */
  explorer: string | undefined
  token: Address
  symbol: string
  decimals: number
}

/**
 * What the server tells the page, in a `meta` element. Nothing in it is of one
 * order: who has only the address of a page learns nothing from it.
 */
export type PageData = {
  /** Where the routes of buyers are: relative to the page, or absolute. */
  payments: string
  name: string
  tokens: readonly PageToken[]
  /** Where the page leads back to. */
  returnUrl: string | undefined
  terms: string | undefined
  language: string
  words: PageWords
}

/** Name of the `meta` element. */
export const dataElement = 'countersign'
