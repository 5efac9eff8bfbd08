import type { ProofRecord } from '../../store/types.js'
import type { SettledCapture } from './settledTypes.js'

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
