import type { PaymentRequirements } from '@x402/core/types'
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

/** What the server tells each page of a shop, in a `meta` element. */
export type ShopData = {
  name: string
  tokens: readonly PageToken[]
  terms: string | undefined
  language: string
  words: PageWords
}

/**
 * What the server tells the page of an order. Nothing in it is of one order: who
 * has only the address of a page learns nothing from it.
 */
export type PageData = ShopData & {
  /** Where the routes of buyers are: relative to the page, or absolute. */
  payments: string
  /** Where the page leads back to. */
  returnUrl: string | undefined
}

/** What went wrong: the catalogue has a title and a text for each. */
export type FailureReason =
  | 'answered'
  | 'busy'
  | 'cannotCharge'
  | 'changed'
  | 'declined'
  | 'ended'
  | 'failed'
  | 'inFlight'
  | 'notReceived'
  | 'offline'
  | 'refused'
  | 'tooLate'
  | 'tooLittle'
  | 'tooMany'
  | 'unexpected'
  | 'unknownNetwork'
  | 'unreachable'
  | 'wait'
  | 'wallet'
  | 'wrongAccount'
  | 'wrongNetwork'
  | 'wrongSigner'

/** What went wrong, and what helps. */
export type PageFailure = {
  reason: FailureReason
  values?: Readonly<Record<string, string>> | undefined
  help?: 'switchNetwork' | 'changeAccount' | undefined
  isSerious?: boolean | undefined
}

/** What the server tells the page that sells an answer of an x402 gate. */
export type PaywallData = ShopData & {
  /** Colour of buttons, and of text on them. */
  accent: string
  onAccent: string
  /** What can be paid, in the words of x402. One of them is enough. */
  accepts: readonly PaymentRequirements[]
  /** What is sold. */
  description: string | undefined
  /** True if a payment must have an identifier of its own. */
  needsIdentifier: boolean
  /** Name of the cookie that holds the payment. */
  cookie: string
  /** Seconds after a payment's expiry for which its answer stays stored. */
  keepFor: number
  /** Unix seconds. Buyers' clocks are often wrong. */
  now: number
  /** How the shop answered the payment of the cookie, or this request. */
  answer: PaywallAnswer
}

export type PaywallAnswer = {
  /** What to say about it, if there is anything to say. */
  failure?: PageFailure | undefined
  /**
   * The nonce of the payment that buys nothing any more, empty if it had none.
   * Absent if the request had no payment.
   */
  ended?: string | undefined
  /** True if nothing can be paid now, and the page is to be loaded again. */
  isLater?: boolean | undefined
  /** Seconds after which it loads itself again. */
  seconds?: number | undefined
}

/** Name of the `meta` element. */
export const dataElement = 'countersign'
