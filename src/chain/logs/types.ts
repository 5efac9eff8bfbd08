import type { Address, BlockTag, Hash, Hex } from 'viem'

/**
 * One position of a topic filter: `null` for any topic, one topic, or a list of
 * alternatives.
 */
type TopicFilter = Hex | readonly Hex[] | null

/**
 * Which logs to read: one block by its hash, or a range. Needs at least one
 * member. With `blockHash`, the range is ignored, because nodes reject both.
 */
export type LogFilter = {
  /** One contract or several. */
  address?: Address | readonly Address[] | undefined
  /** Up to four positions. */
  topics?: readonly TopicFilter[] | undefined
  blockHash?: Hash | undefined
  /** @default 'latest' */
  fromBlock?: bigint | Hex | BlockTag | undefined
  /** @default 'latest' */
  toBlock?: bigint | Hex | BlockTag | undefined
}

/** A log, its integers as `bigint` and its positions as `number`. */
export type ReadLog = {
  address: Address
  topics: readonly Hex[]
  data: Hex
  blockNumber: bigint
  /** Absent while the log is only pre-confirmed. */
  blockHash: Hash | undefined
  /** Unix seconds, if the node returns it. */
  blockTimestamp: bigint | undefined
  transactionHash: Hash
  transactionIndex: number
  /**
   * A sealed log always has one. A pre-confirmed log has none where the node
   * gives none.
   */
  logIndex: number | undefined
  /** True when a reorganization removed it. */
  removed: boolean
  /** True when seen in a block that is not sealed yet. */
  preconfirmed: boolean
}
