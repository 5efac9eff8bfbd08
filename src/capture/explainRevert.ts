import type { Client, Hash } from 'viem'
import { readRevert, readWords } from '../base/revertReason.js'
import { encodeBlock, requestNode, tryRequest } from '../reads/requestNode.js'
import { CaptureRevertedError, type RejectionReason } from './errors.js'

/** Plays a failed transaction again on the state before its block. */
export async function explainRevert(
  client: Client,
  receipt: { transactionHash: Hash; blockNumber: bigint },
): Promise<CaptureRevertedError> {
  const { transactionHash, blockNumber } = receipt
  const sent = (await requestNode(client, 'eth_getTransactionByHash', [
    transactionHash,
  ])) as Record<string, unknown> | null
  const { result, failure } = await tryRequest(client, 'eth_call', [
    { from: sent?.from, to: sent?.to, data: sent?.input, gas: sent?.gas },
    encodeBlock(blockNumber),
  ])
  if (!failure || result)
    return new CaptureRevertedError({
      transactionHash,
      reason: 'simulationFailed',
    })
  const { reason, words } = failure.data
    ? readRevert(failure.data)
    : readWords(failure.words)
  return new CaptureRevertedError({
    transactionHash,
    reason: plainReason(reason),
    words,
  })
}

/** Without the facts of a rehearsal some reasons stay as general as the words. */
function plainReason(
  reason: ReturnType<typeof readWords>['reason'],
): RejectionReason {
  if (reason === 'blocked' || reason === 'outsideWindow')
    return 'simulationFailed'
  return reason
}
