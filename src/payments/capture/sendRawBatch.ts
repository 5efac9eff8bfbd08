import type { Client, Hash } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'
import { classifySendFailure, type SendStatus } from './classifySendFailure.js'
import type { SignedTransaction } from './signTransaction.js'

export type SendOutcome = {
  hash: Hash
  status: SendStatus
  /**
   * The node's error text, without secrets. Absent if the node accepted the
   * transaction.
   */
  words?: string | undefined
}

/**
 * Sends each signed transaction once, in order. A batching transport sends all
 * as one request.
 *
 * A sent transaction is not yet in a block: the mempool can still drop it.
 */
export function sendRawBatch(
  client: Pick<Client, 'request'>,
  signed: readonly Pick<SignedTransaction, 'hash' | 'raw'>[],
): Promise<readonly SendOutcome[]> {
  return Promise.all(signed.map((one) => sendOnce(client, one)))
}

async function sendOnce(
  client: Pick<Client, 'request'>,
  { hash, raw }: Pick<SignedTransaction, 'hash' | 'raw'>,
): Promise<SendOutcome> {
  const method = 'eth_sendRawTransaction'
  const { result, failure } = await tryRequest(client, method, [raw], {
    retryCount: 0,
  })
  if (failure)
    return { hash, status: classifySendFailure(failure), words: failure.words }
  return String(result).toLowerCase() === hash.toLowerCase()
    ? { hash, status: 'sent' }
    : { hash, status: 'unclear', words: 'the node gave another hash' }
}
