import type { Address } from 'viem'
import type { AnswerAt } from '../../orders/engine.js'
import type { PaymentFlow } from '../wire/requirements.js'

/** The destination and the description of an offer. */
type OfferBase = {
  /** The chain to pay on. @default the only one of the orders */
  chainId?: number | undefined
  /** The token to pay in. @default the only one of the orders */
  token?: Address | undefined
  /** The account that is paid. @default the only one of the orders */
  recipient?: Address | undefined
  /** Seconds from signing until the payment expires. @default 300 */
  maxTimeoutSeconds?: number | undefined
  /** Description of what is sold, which clients show to people. */
  description?: string | undefined
  /** MIME type of the answer, for clients. */
  mimeType?: string | undefined
}

/** Sells each request for a payment of its own (scheme exact). */
export type X402Offer = OfferBase & {
  /** A decimal such as `'0.01'`, in whole tokens. */
  amount: string
  /**
   * `authorization`: the handler works first. Then the payment is captured, and
   * the answer waits until a block has the capture. `upfront`: the payment is
   * captured first, then the handler works. @default 'authorization'
   */
  flow?: PaymentFlow | undefined
  /**
   * When to answer. `included`: once a block has the capture. `preconfirmed`:
   * as soon as the chain's sequencer announces the capture. If no block then
   * includes it, you lose the amount. Needs `preconfirmedUpTo`, and
   * `policy.mostAtRisk` of the orders. Above these limits, and on a chain
   * without pre-confirmations, the answer waits for a block. @default
   * 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest payment to answer when it is pre-confirmed, a decimal in whole
   * tokens.
   */
  preconfirmedUpTo?: string | undefined
  /**
   * Most that this offer may put at risk at once, a decimal in whole tokens. At
   * risk is a payment that was answered when it was pre-confirmed, until a
   * block has it. @default `policy.mostAtRisk.total` of the orders
   */
  mostAtRisk?: string | undefined
  /**
   * Whether a client must send a payment identifier, an id of its own for the
   * payment, unique for the payer. @default 'optional'
   */
  identifier?: 'optional' | 'required' | undefined
  /**
   * What happens when the handler fails. `keep`: the client can send the same
   * request with the same payment again. `giveUp`: the order is voided; if its
   * payment was captured, it raises the event `refundDue`. @default 'keep' with
   * `authorization`, 'giveUp' with `upfront`
   */
  afterFailure?: 'keep' | 'giveUp' | undefined
  /**
   * Whether the handler may run again for the same `orderId` after its process
   * died. If false, the order is voided in that case; if its payment was
   * captured, it raises the event `refundDue`. @default false
   */
  repeatable?: boolean | undefined
  /**
   * True to send the answer to the client in parts as the handler writes them,
   * and not to store it. Only with `upfront`. Has no effect in Express, where
   * the answer is collected and stored. @default false
   */
  stream?: boolean | undefined
}

/**
 * Sells many requests for one deposit (scheme batch-settlement): the payer
 * deposits into a channel once, and then signs a cumulative voucher for each
 * request. Needs `channels` of the gate.
 */
export type X402ChannelOffer = OfferBase & {
  flow: 'channel'
  /**
   * Most that one request can cost, a decimal such as `'0.01'` in whole tokens.
   * The handler says with `charge` what it costs.
   */
  atMost: string
  /**
   * The deposit that clients are asked for, a decimal in whole tokens. You pay
   * the gas of each deposit, so choose one that pays for hundreds of requests.
   * Stock clients deposit this much, but at most five times their own limit for
   * one payment.
   */
  deposit: string
  /**
   * Smaller deposits are refused, also later ones of the same channel. A
   * decimal in whole tokens, from `atMost` to `deposit`. @default five times
   * `atMost`, which every stock client that can pay `atMost` can deposit;
   * `deposit` if that is less
   */
  leastDeposit?: string | undefined
  /**
   * When a deposit counts. `included`: once a block has it. `preconfirmed`: as
   * soon as the chain's sequencer announces it. If no block then includes it,
   * you lose what you served for it. Needs `preconfirmedUpTo`, and
   * `policy.mostAtRisk` of the orders. Above these limits, and on a chain without
   * pre-confirmations, a deposit waits for a block. @default 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest deposit to count when it is pre-confirmed, a decimal in whole
   * tokens.
   */
  preconfirmedUpTo?: string | undefined
  /**
   * Most that this offer may put at risk at once, a decimal in whole tokens. At
   * risk is a deposit that counts before a block has it.
   * @default `policy.mostAtRisk.total` of the orders
   */
  mostAtRisk?: string | undefined
  /**
   * Seconds from a payer's announcement of a withdrawal to its end, from 900 to
   * 2_592_000. Your worker must claim within this time. If you change it, every
   * client must deposit into a new channel. @default 86_400
   */
  withdrawDelay?: number | undefined
  /**
   * Most that one channel may owe, a decimal in whole tokens, at least `atMost`.
   * A request above it gets 503 and has the channel claimed at once. The lower
   * one of this and `policy.mostUnclaimed` of the channels holds.
   * @default no limit
   */
  mostUnclaimed?: string | undefined
  /**
   * True to send the answer to the client in parts as the handler writes them,
   * and not to store it. `charge` of {@link X402Payment} can then raise the total
   * until the stream ends. @default false
   */
  stream?: boolean | undefined
}
