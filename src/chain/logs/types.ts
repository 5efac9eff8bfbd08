import type { Address, BlockTag, Hash, Hex } from 'viem'

/**
 * One position of a topic filter: `null` accepts any topic, a list accepts each
 * of its topics.
 */
type TopicFilter = Hex | readonly Hex[] | null

/**
 * Which logs to read: those of one block by its hash, or of a range. Give at
 * least one member. With `blockHash`, the range is ignored, because nodes
 * reject both together.
 */
export type LogFilter = {
  /** Contracts whose logs to read. Without it, those of all contracts. */
  address?: Address | readonly Address[] | undefined
  /** The topics to match, up to four positions. */
  topics?: readonly TopicFilter[] | undefined
  blockHash?: Hash | undefined
  /** First block of the range. @default 'latest' */
  fromBlock?: bigint | Hex | BlockTag | undefined
  /** Last block of the range. @default 'latest' */
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
   * Always set for a log in a block. A pre-confirmed log has none if the node
   * returns none.
   */
  logIndex: number | undefined
  /** Always false: logs that a reorganization removed are left out. */
  removed: boolean
  /** True when the log was seen in a block that is not complete yet. */
  preconfirmed: boolean
}
