import type { Address, Client, Hash, Hex } from 'viem'
import { isPassing, LogRangeError, type NodeFailure } from '../rpc/errors.js'
import {
  type BlockHead,
  getBlockHead,
  parseBytes,
  parseList,
} from '../rpc/requestNode.js'
import type { LogFailure } from './classifyLogFailure.js'
import { getLogRange, rangeLimit } from './getLogRange.js'
import { requireBlockLogs } from './getReceiptLogs.js'

/** A filter for the logs that show that a payment nonce was used. */
export type SpentLogFilter = {
  address: Address
  topics: readonly (Hex | readonly Hex[])[]
}

export type FindAuthorizationLogsParameters = {
  filter: SpentLogFilter
  /** Newest block to search. */
  toBlock: bigint
  /**
   * True when that block is not sealed yet. Then it is requested as `pending`.
   */
  pending: boolean
  /** Unix seconds: the search goes back to this time. */
  since: bigint
  /** Blocks in one request. */
  maxBlockRange: bigint
  /**
   * Called for a block whose logs the node refuses to return. Returns the
   * transactions in it that spent the nonce.
   */
  findInBlock: (block: bigint) => Promise<readonly Hash[]>
}

/**
 * Searches back from a block, range by range, for the transactions that spent a
 * payment nonce. Ends at a block older than `since`.
 */
export async function findAuthorizationLogs(
  client: Client,
  parameters: FindAuthorizationLogsParameters,
): Promise<{ hashes: readonly Hash[]; searchedFrom: bigint }> {
  const { filter: wire, toBlock, since, findInBlock } = parameters
  let range = parameters.maxBlockRange
  let searchedFrom = toBlock + 1n
  while (searchedFrom > 0n) {
    range = rangeLimit(client, range)
    const last = searchedFrom - 1n
    const first = last >= range ? last - range + 1n : 0n
    const pending = parameters.pending && last === toBlock
    const [answer, head] = await Promise.all([
      getLogRange(
        client,
        wire,
        { first, last },
        {
          toBlock: pending ? 'pending' : undefined,
          classify: classifyBriefly,
          read: parseHashes,
        },
      ).catch(async (error: unknown) => {
        if (pending || !(error instanceof LogRangeError)) throw error
        await requireBlockLogs(client, wire, first, { refusal: error })
        return { logs: await findInBlock(first) }
      }),
      getBlockHead(client, first),
    ])
    if (!('logs' in answer)) {
      if (!answer.narrower) throw answer.again
      range = answer.narrower
      continue
    }

    const hashes = answer.logs
    searchedFrom = first
    const sealed = first < last || !pending
    if (hashes.length > 0 || (sealed && !head) || isBefore(head, since))
      return { hashes, searchedFrom }
  }
  return { hashes: [], searchedFrom }
}

function isBefore(head: BlockHead | undefined, since: bigint): boolean {
  return head !== undefined && head.timestamp < since
}

function parseHashes(result: unknown): readonly Hash[] {
  const method = 'eth_getLogs'
  return parseList(result, method).map((log) =>
    parseBytes(Object(log).transactionHash, method),
  )
}

/**
 * Simpler than `classifyLogFailure`, because this search finds few logs. The
 * search throws a temporary failure, and narrows the range after most others.
 */
function classifyBriefly(failure: NodeFailure): LogFailure {
  const { code, status, words } = failure
  if (code === -32601 || status === 403) return { kind: 'unsupported' }
  if (/time[d ]*out/i.test(words)) return { kind: 'timeout' }
  const sized = /results|too large|at most/i.test(words)
  if (isPassing(failure) && !sized) return { kind: 'rateLimit' }
  if (/range|blocks/i.test(words)) return { kind: 'rangeTooWide' }
  return { kind: sized ? 'tooManyResults' : 'fault' }
}
