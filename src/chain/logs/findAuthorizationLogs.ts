import type { Address, Client, Hash, Hex } from 'viem'
import { LogRangeError } from '../rpc/errors.js'
import { type BlockHead, getBlockHead, parseBytes } from '../rpc/requestNode.js'
import { classifyLogRefusal } from './classifyLogFailure.js'
import { getLogRange, rangeLimit } from './getLogRange.js'
import { getPendingPart } from './getPendingPart.js'
import { requireBlockLogs } from './getReceiptLogs.js'

/** A filter for the logs that show that a payment nonce was used. */
export type SpentLogFilter = {
  address: Address
  topics: readonly (Hex | readonly Hex[])[]
}

export type FindAuthorizationLogsParameters = {
  filter: SpentLogFilter
  /** The block from which the search goes back. */
  toBlock: bigint
  /** True to search the pre-confirmed block too, if the node has one. */
  pending: boolean
  /** Unix seconds: the search goes back to this time. */
  since: bigint
  /** Most blocks in one log request. */
  maxBlockRange: bigint
  /**
   * Called for a block whose logs the node refuses. Returns the transactions in
   * the block that used the payment nonce.
   */
  findInBlock: (block: bigint) => Promise<readonly Hash[]>
}

/**
 * Searches back from a block for the transactions that used a payment nonce,
 * one range of blocks at a time. Stops at the first range that has any, or at a
 * block older than `since`.
 */
export async function findAuthorizationLogs(
  client: Client,
  parameters: FindAuthorizationLogsParameters,
): Promise<{ hashes: readonly Hash[]; searchedFrom: bigint }> {
  const { filter: wire, toBlock, since, findInBlock } = parameters
  const ask = (first: bigint, last: bigint) =>
    getLogRange(
      client,
      wire,
      { first, last },
      { classify: classifyLogRefusal, read: parseHashes },
    )
  let range = parameters.maxBlockRange
  let searchedFrom = toBlock + 1n
  let isWide = false
  if (parameters.pending) {
    const { logs, head } = await getPendingPart(client, wire, {
      read: parseHashes,
    })
    if (logs.length > 0) return { hashes: logs, searchedFrom: toBlock }
    if (head < toBlock) searchedFrom = head + 1n
  }
  while (searchedFrom > 0n) {
    range = rangeLimit(client, range)
    const last = searchedFrom - 1n
    const first = last >= range ? last - range + 1n : 0n
    const [answer, head] = await Promise.all([
      ask(first, last).catch(async (error: unknown) => {
        const isOfBlock = error instanceof LogRangeError && first === last
        if (!isOfBlock) throw error
        await requireBlockLogs(client, wire, first, { refusal: error })
        return { logs: await findInBlock(first), hash: undefined }
      }),
      getBlockHead(client, first),
    ])
    if (!('logs' in answer)) {
      const { again, narrower } = answer
      // Some providers report an outage when the range is too wide. If the same
      // node answers for a single block, the range was too wide.
      isWide ||= Boolean(narrower && again && 'logs' in (await ask(last, last)))
      if (again && !(isWide && narrower)) throw again
      range = narrower ?? 1n
      continue
    }

    const hashes = answer.logs
    searchedFrom = first
    if (hashes.length > 0 || !head || isBefore(head, since))
      return { hashes, searchedFrom }
  }
  return { hashes: [], searchedFrom }
}

function isBefore(head: BlockHead | undefined, since: bigint): boolean {
  return head !== undefined && head.timestamp < since
}

function parseHashes(logs: readonly unknown[]): readonly Hash[] {
  return logs
    .filter((log) => Object(log).removed !== true)
    .map((log) => parseBytes(Object(log).transactionHash, 'eth_getLogs'))
}
