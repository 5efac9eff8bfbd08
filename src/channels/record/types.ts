import type { ChannelRecord } from '../../store/types.js'

/** What the chain says about a channel at a block. Amounts in base units. */
export type ChannelChain = {
  balance: bigint
  claimed: bigint
  /** The withdrawal that the payer announced; `initiatedAt` in Unix seconds. */
  withdrawal: { value: bigint; initiatedAt: bigint } | undefined
  refundNonce: bigint
  /** `blockTime` in Unix seconds. */
  at: { blockNumber: bigint; blockTime: bigint }
}

/** When channels are claimed, and how far the copy of the chain is trusted. */
export type ChannelsPolicy = {
  /**
   * Seconds after the first charge that is not claimed after which a channel is
   * claimed.
   */
  claimAfter: bigint
  /** Base units that one channel may owe before it is claimed at once. */
  claimAt: bigint | undefined
  /** Base units that one channel may owe at all: above, requests are refused. */
  mostUnclaimed: bigint | undefined
  /**
   * Seconds for which the copy of a channel's state on chain is trusted, by this
   * machine's clock: at most 300.
   */
  copyFor: bigint
}

/** The identity of a channel, as the contract hashes it. */
export type ChannelTerms = Pick<
  ChannelRecord,
  | 'id'
  | 'chainId'
  | 'token'
  | 'recipient'
  | 'payer'
  | 'payerAuthorizer'
  | 'receiverAuthorizer'
  | 'withdrawDelay'
  | 'salt'
>
