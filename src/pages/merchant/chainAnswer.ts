import type { Hash, Hex } from 'viem'

export type RpcLog = {
  address: Hex
  topics: readonly Hex[]
  data: Hex
  logIndex: Hex
}

export type RpcReceipt = {
  status: Hex
  transactionHash: Hash
  blockHash: Hash
  blockNumber: Hex
  from: Hex
  to: Hex | null
  gasUsed: Hex
  logs: readonly RpcLog[]
}

export type RpcBlock = { hash: Hash; number: Hex; timestamp: Hex }

/** The chain's answer about a transaction, from the shop's node. */
export type ChainAnswer = {
  receipt: RpcReceipt | null
  /** The chain's block at the height of the receipt. */
  canonical: RpcBlock | null
}
