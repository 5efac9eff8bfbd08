import type { Address, Client, Hash, Hex } from 'viem'
import { topics } from '../base/tokenAbi.js'
import { word } from '../base/words.js'
import { NodeAnswerError, NodeError } from './errors.js'
import { readLog } from './getReceipt.js'
import { encodeBlock, getBlockHead, requestNode } from './requestNode.js'

export type FindAuthorizationLogsParameters = {
  token: Address
  payer: Address
  nonce: Hex
  /** Newest block to look at. */
  toBlock: bigint
  /** Unix seconds at which looking back ends. */
  since: bigint
  /** Blocks in one request. */
  maxBlockRange: bigint
}

/**
 * Walks back from a block, range by range, to the transactions that spent a
 * nonce, at most to the block that is older than `since`. A range the node
 * refuses is halved.
 */
export async function findAuthorizationLogs(
  client: Client,
  parameters: FindAuthorizationLogsParameters,
): Promise<{ hashes: readonly Hash[]; searchedFrom: bigint }> {
  const { toBlock, since, maxBlockRange } = parameters
  let range = maxBlockRange
  let searchedFrom = toBlock + 1n
  while (searchedFrom > 0n) {
    const last = searchedFrom - 1n
    const first = last >= range ? last - range + 1n : 0n
    const answers = await Promise.all([
      getAuthorizationLogs(client, parameters, { first, last }),
      getBlockHead(client, first),
    ]).catch((error: unknown) => {
      if (!(error instanceof NodeError) || error.retryable || range === 1n)
        throw error
      range /= 2n
    })
    if (!answers) continue

    const [hashes, head] = answers
    searchedFrom = first
    if (hashes.length > 0 || !head || head.timestamp < since)
      return { hashes, searchedFrom }
  }
  return { hashes: [], searchedFrom }
}

async function getAuthorizationLogs(
  client: Client,
  { token, payer, nonce }: FindAuthorizationLogsParameters,
  { first, last }: { first: bigint; last: bigint },
): Promise<readonly Hash[]> {
  const method = 'eth_getLogs'
  const filter = {
    address: token,
    topics: [[topics.used, topics.canceled], `0x${word(payer)}`, nonce],
    fromBlock: encodeBlock(first),
    toBlock: encodeBlock(last),
  }
  const answer = await requestNode(client, method, [filter])
  if (!Array.isArray(answer))
    throw new NodeAnswerError({ method, problem: 'is not a list' })
  return answer.map((log) => readLog(log, method).transactionHash)
}
