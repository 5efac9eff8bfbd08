import type { Client, Hash } from 'viem'
import type { ReadLog } from '../../chain/logs/types.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { getReceipts } from '../../chain/state/getReceipt.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import type { ChainHeads } from './getHeads.js'

/** A receipt with the time of its block, Unix seconds. */
export type TimedReceipt = { receipt: ProofReceipt; blockTime: bigint }

/** The transaction hashes of logs, each once. */
export const hashesOf = (logs: readonly ReadLog[]): Hash[] => [
  ...new Set(logs.map(({ transactionHash }) => transactionHash)),
]

/**
 * Reads the receipts of logs and the times of their blocks. Checks that the
 * head read before is still in the chain, that each receipt is in its block,
 * and that each receipt contains its logs.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or one of these checks fails.
 */
export async function getTimedReceipts(
  { client, heads: { latest } }: { client: Client; heads: ChainHeads },
  logs: readonly ReadLog[],
): Promise<TimedReceipt[]> {
  const hashes = hashesOf(logs)
  const [receipts, times] = await Promise.all([
    getReceipts(client, hashes),
    getBlockTimes(client, [
      latest.number,
      ...logs.map(({ blockNumber }) => blockNumber),
    ]),
  ])
  const isSame = times.get(latest.number)?.hash === latest.hash
  const timed = receipts.flatMap((receipt): TimedReceipt[] => {
    const block = receipt && times.get(receipt.blockNumber)
    return block && block.hash === receipt.blockHash
      ? [{ receipt, blockTime: block.timestamp }]
      : []
  })
  const byHash = new Map(timed.map((one) => [one.receipt.transactionHash, one]))
  const isWhole =
    timed.length === hashes.length && logs.every((log) => isIn(log, byHash))
  if (isSame && isWhole) return timed
  throw new NodeAnswerError({
    method: 'eth_getLogs',
    problem: 'is of a chain that was reorganized since, or not whole',
  })
}

/**
 * True when the receipt contains the log; otherwise the receipt is incomplete.
 */
function isIn(
  { transactionHash, logIndex }: ReadLog,
  timed: ReadonlyMap<Hash, TimedReceipt>,
): boolean {
  const found = timed.get(transactionHash)
  return found?.receipt.logs.some((log) => log.logIndex === logIndex) === true
}
