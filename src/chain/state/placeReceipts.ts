import type { Client } from 'viem'
import { type ProofReceipt, zeroHash } from '../../core/receiptProof.js'
import { namesBlock, standsInBlock } from '../logs/standsInBlock.js'
import type { BlockHead } from '../rpc/requestNode.js'
import { getBlockTimes } from './getBlockTimes.js'

/** Receipts, and the blocks of the chain that they name. */
export type PlacedReceipts = {
  /** Their `blockHash` is zero unless they stand in a block of the chain. */
  receipts: readonly ProofReceipt[]
  /** Times of these blocks in Unix seconds, by number, as far as they are known. */
  times: ReadonlyMap<bigint, bigint>
}

/**
 * Compares receipts with the chain, and gives those that stand in none of its
 * blocks a zero block hash. Requests only the blocks that `head`, the newest
 * one, does not show: it has its own hash and that of its parent.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function placeReceipts(
  client: Pick<Client, 'request'>,
  receipts: readonly ProofReceipt[],
  head?: BlockHead | undefined,
): Promise<PlacedReceipts> {
  const blocks = new Map<bigint, Partial<BlockHead>>()
  if (head?.parentHash) blocks.set(head.number - 1n, { hash: head.parentHash })
  if (head?.hash) blocks.set(head.number, head)
  const unknown = receipts.filter(
    ({ blockHash, blockNumber }) =>
      namesBlock(blockHash) && !blocks.has(blockNumber),
  )
  const asked = await getBlockTimes(
    client,
    unknown.map(({ blockNumber }) => blockNumber),
  )
  for (const [number, block] of asked) blocks.set(number, block)
  const times = new Map<bigint, bigint>()
  for (const [number, { timestamp }] of blocks)
    if (timestamp !== undefined) times.set(number, timestamp)
  return {
    times,
    receipts: receipts.map((receipt) =>
      standsInBlock(receipt, blocks.get(receipt.blockNumber))
        ? receipt
        : { ...receipt, blockHash: zeroHash },
    ),
  }
}

/** Like {@link placeReceipts}, for one receipt. */
export async function placeReceipt(
  client: Pick<Client, 'request'>,
  receipt: ProofReceipt,
  head?: BlockHead | undefined,
): Promise<ProofReceipt> {
  const { receipts } = await placeReceipts(client, [receipt], head)
  return receipts[0] ?? receipt
}
