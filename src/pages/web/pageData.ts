import type { PaymentRequirements } from '@x402/core/types'
import type { Address } from 'viem'
import type { PaymentWords } from '../words/types.js'

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

/** Data that the server puts into a `meta` element of each page of a shop. */
export type ShopData<words extends PaymentWords = PaymentWords> = {
  name: string
  tokens: readonly PageToken[]
  terms: string | undefined
  language: string
  words: words
}

/**
 * Data for the page of an order. Contains no order data: the address of a page
 * alone reveals nothing.
 */
export type PageData<words extends PaymentWords = PaymentWords> =
  ShopData<words> & {
    /** Where the routes of buyers are: relative to the page, or absolute. */
    payments: string
    /** Where the page leads back to. */
    returnUrl: string | undefined
  }

/** Reasons of failures. The catalogue has a title and a text for each. */
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
  | 'unfitWallet'
  | 'unknownNetwork'
  | 'unreachable'
  | 'wait'
  | 'wallet'
  | 'wrongAccount'
  | 'wrongNetwork'
  | 'wrongSigner'

/** A failure to explain to the buyer. */
export type PageFailure = {
  reason: FailureReason
  values?: Readonly<Record<string, string>> | undefined
  help?: 'switchNetwork' | 'changeAccount' | undefined
  isSerious?: boolean | undefined
}

/** Data for the page that sells an answer of an x402 gate. */
export type PaywallData = ShopData & {
  /** Colour of buttons, and of text on them. */
  accent: string
  onAccent: string
  /** The payments to choose from, in the words of x402. The buyer makes one. */
  accepts: readonly PaymentRequirements[]
  /** Description of the offer. */
  description: string | undefined
  /** True if a payment must have an identifier of its own. */
  needsIdentifier: boolean
  /** Name of the cookie that holds the payment. */
  cookie: string
  /** Seconds after a payment's expiry for which its answer stays stored. */
  keepFor: number
  /** Unix seconds. Buyers' clocks are often wrong. */
  now: number
  /** The shop's answer to the payment in the cookie, or to this request. */
  answer: PaywallAnswer
}

export type PaywallAnswer = {
  /** The failure to explain, if there is one. */
  failure?: PageFailure | undefined
  /**
   * Nonce of the payment that can no longer be used, empty if the payment had
   * none. Absent if the request had no payment.
   */
  ended?: string | undefined
  /** True if nothing can be paid now. The buyer can load the page again. */
  isLater?: boolean | undefined
  /** Seconds after which the page loads itself again. */
  seconds?: number | undefined
}

/** Name of the `meta` element. */
export const dataElement = 'countersign'
