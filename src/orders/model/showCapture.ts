import type { ProofRecord } from '../../store/types.js'
import type { SettledCapture } from './settledTypes.js'

/** Builds the public view of the proof of a transfer. */
export function showCapture(
  proof: ProofRecord,
  finality: SettledCapture['finality'],
): SettledCapture {
  const { gasUsed, effectiveGasPrice } = proof
  return {
    transactionHash: proof.transactionHash,
    blockHash: proof.blockHash,
    blockNumber: proof.blockNumber,
    logIndex: proof.logIndex,
    submitter: proof.submitter,
    gasUsed,
    effectiveGasPrice,
    finality,
    blockTime: proof.blockTime,
    fee: gasUsed * effectiveGasPrice,
  }
}
