import type { Hash } from 'viem'
import type { CaptureProof } from '../../core/receiptProof.js'
import type { Finality } from '../../core/types.js'

/** What the chain shows about a capture. */
export type SettledCapture = CaptureProof & {
  /** Unix seconds. */
  blockTime: bigint
  /**
   * Cost of the transaction in wei, without any fee that the chain takes beside
   * gas.
   */
  fee: bigint
}

/** What the chain shows about a cancellation. */
export type SettledCancellation = {
  transactionHash: Hash
  blockNumber: bigint
  blockTime: bigint
  finality: Finality
}
