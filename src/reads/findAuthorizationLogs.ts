import type { Address, Client, Hash, Hex } from 'viem'
import { InvalidFieldError } from '../base/errors.js'
import { topics } from '../base/tokenAbi.js'
import { word } from '../base/words.js'
import { NodeAnswerError, NodeError } from './errors.js'
import { readLog } from './getReceipt.js'
import {
  type BlockHead,
  encodeBlock,
  getBlockHead,
  requestNode,
} from './requestNode.js'

export type FindAuthorizationLogsParameters = {
  token: Address
  payer: Address
  nonce: Hex
  /** Newest block to look at. */
  toBlock: bigint
  /** Whether that block is not sealed yet, so has no number to ask by. */
  pending: boolean
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
  if (maxBlockRange < 1n)
    throw new InvalidFieldError('maxBlockRange', maxBlockRange, 'positive')
  let range = maxBlockRange
  let searchedFrom = toBlock + 1n
  while (searchedFrom > 0n) {
    const last = searchedFrom - 1n
    const first = last >= range ? last - range + 1n : 0n
    const answers = await Promise.all([
      getAuthorizationLogs(client, parameters, { first, last }),
      getBlockHead(client, first),
    ]).catch((error: unknown) => {
      if (!isTooWide(error) || range === 1n) throw error
      range /= 2n
    })
    if (!answers) continue

    const [hashes, head] = answers
    searchedFrom = first
    const sealed = first < toBlock || !parameters.pending
    if (hashes.length > 0 || (sealed && !head) || isBefore(head, since))
      return { hashes, searchedFrom }
  }
  return { hashes: [], searchedFrom }
}

function isBefore(head: BlockHead | undefined, since: bigint): boolean {
  return head !== undefined && head.timestamp < since
}

/**
 * Providers word and number this refusal each in their own way, some as a limit
 * or a timeout; a replica that lags behind the range is another matter.
 */
function isTooWide(error: unknown): boolean {
  if (!(error instanceof NodeError)) return false
  const { code, words } = error.details
  if (!error.retryable) return code !== -32601
  return (
    /range|results|too large|query time/i.test(String(words)) &&
    !/beyond|OutOfRange/i.test(String(words))
  )
}

async function getAuthorizationLogs(
  client: Client,
  { token, payer, nonce, toBlock, pending }: FindAuthorizationLogsParameters,
  { first, last }: { first: bigint; last: bigint },
): Promise<readonly Hash[]> {
  const method = 'eth_getLogs'
  const filter = {
    address: token,
    topics: [[topics.used, topics.canceled], `0x${word(payer)}`, nonce],
    fromBlock: encodeBlock(first),
    toBlock: encodeBlock(pending && last === toBlock ? 'pending' : last),
  }
  const answer = await requestNode(client, method, [filter])
  if (!Array.isArray(answer))
    throw new NodeAnswerError({ method, problem: 'is not a list' })
  return answer.map((log) => readLog(log, method).transactionHash)
}
