import type { Hash } from 'viem'
import type { CaptureProof } from '../../core/receiptProof.js'
import type { Finality } from '../../core/types.js'

/** What the chain shows about a capture. */
export type SettledCapture = CaptureProof & {
  /** Time of the block in Unix seconds. */
  blockTime: bigint
  /**
   * Gas cost of the transaction in wei, without fees that the chain takes in
   * addition to gas. If the transaction captured several payments of the token,
   * only this payment's share, as in `gasUsed`.
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
