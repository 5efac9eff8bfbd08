import type { Client, Hash } from 'viem'
import { standsInBlock } from '../../chain/logs/standsInBlock.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import { getReceipts } from '../../chain/state/getReceipt.js'
import type { ProofReceipt } from '../../core/receiptProof.js'

/** A receipt, with the time of its block in Unix seconds. */
export type TimedReceipt = { receipt: ProofReceipt; blockTime: bigint }

export const hashesOf = (logs: readonly ReadLog[]): Hash[] => [
  ...new Set(logs.map(({ transactionHash }) => transactionHash)),
]

/** A transaction whose receipt the node does not return, or only in part. */
export type MissingReceipt = {
  transactionHash: Hash
  blockNumber: bigint
  error: unknown
}

/**
 * Reads the receipts of logs and the times of their blocks. Checks that the
 * newest block that was read before and the blocks of the logs are still in the
 * chain. A receipt counts as missing if it is not in its block or lacks one of
 * its logs.
 *
 * @param options.isWaiting true for a transaction that must wait for its next
 * try; it is not requested, and its receipt counts as missing.
 * @throws {@link NodeError} {@link NodeAnswerError} when the chain changed
 * meanwhile, or there are several receipts and the node returns none.
 */
export async function getTimedReceipts(
  { client, heads: { latest } }: { client: Client; heads: ChainHeads },
  logs: readonly ReadLog[],
  { isWaiting }: { isWaiting: (hash: Hash) => boolean },
): Promise<{ timed: TimedReceipt[]; missing: MissingReceipt[] }> {
  const [asked, times] = await Promise.all([
    askReceipts(client, hashesOf(logs), isWaiting),
    getBlockTimes(client, [
      latest.number,
      ...logs.map(({ blockNumber }) => blockNumber),
    ]),
  ])
  const isSame =
    times.get(latest.number)?.hash === latest.hash &&
    logs.every((log) => standsInBlock(log, times.get(log.blockNumber)))
  if (!isSame)
    throw new NodeAnswerError({
      method: 'eth_getLogs',
      problem: 'is outdated by a reorganization: read again',
    })
  const byHash = groupByHash(logs)
  const timed: TimedReceipt[] = []
  const missing: MissingReceipt[] = []
  for (const { transactionHash, receipt, error } of asked) {
    const own = byHash.get(transactionHash) ?? []
    const block = receipt && times.get(receipt.blockNumber)
    const isWhole =
      receipt &&
      standsInBlock(receipt, block) &&
      own.every((log) => isIn(log, receipt))
    if (block && isWhole) timed.push({ receipt, blockTime: block.timestamp })
    else
      missing.push({
        transactionHash,
        blockNumber: own[0]?.blockNumber ?? latest.number,
        error: error ?? incompleteError(transactionHash),
      })
  }
  return { timed, missing }
}

function groupByHash(logs: readonly ReadLog[]): Map<Hash, ReadLog[]> {
  const groups = new Map<Hash, ReadLog[]>()
  for (const log of logs) {
    const group = groups.get(log.transactionHash)
    if (group) group.push(log)
    else groups.set(log.transactionHash, [log])
  }
  return groups
}

type AskedReceipt = {
  transactionHash: Hash
  receipt?: ProofReceipt | undefined
  error?: unknown
}

async function askReceipts(
  client: Client,
  hashes: readonly Hash[],
  isWaiting: (hash: Hash) => boolean,
): Promise<AskedReceipt[]> {
  const asked = await askInChunks(
    hashes,
    async (transactionHash): Promise<AskedReceipt> => {
      if (isWaiting(transactionHash)) return { transactionHash }
      return getReceipts(client, [transactionHash]).then(
        ([receipt]) => ({ transactionHash, receipt }),
        (error: unknown) => ({ transactionHash, error }),
      )
    },
  )
  const failed = asked.filter(({ error }) => error !== undefined)
  if (failed.length > 1 && failed.length === asked.length)
    throw failed[0]?.error
  return asked
}

function incompleteError(transactionHash: Hash): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_getTransactionReceipt',
    problem: `does not contain the logs of transaction ${transactionHash}`,
  })
}

function isIn({ logIndex }: ReadLog, { logs }: ProofReceipt): boolean {
  return logs.some((log) => log.logIndex === logIndex)
}
