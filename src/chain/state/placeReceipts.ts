import type { Client } from 'viem'
import { type ProofReceipt, zeroHash } from '../../core/receiptProof.js'
import { namesBlock, standsInBlock } from '../logs/standsInBlock.js'
import type { BlockHead } from '../rpc/requestNode.js'
import { type BlockTime, getBlockTimes } from './getBlockTimes.js'

/** Receipts, and the blocks that were requested to place them. */
export type PlacedReceipts = {
  /** Their `blockHash` is zero unless they stand in a block of the chain. */
  receipts: readonly ProofReceipt[]
  blocks: ReadonlyMap<bigint, BlockTime>
}

/**
 * Compares receipts with the chain, and gives those that stand in none of its
 * blocks a zero block hash. Requests the blocks that they name, except for
 * `newest`.
 *
 * @param options.newest the newest block, if the caller knows it.
 * @param options.isBrief true to request no block: receipts below the newest
 * block then stand where they say.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function placeReceipts(
  client: Pick<Client, 'request'>,
  receipts: readonly ProofReceipt[],
  {
    newest,
    isBrief = false,
  }: { newest?: BlockHead | undefined; isBrief?: boolean | undefined } = {},
): Promise<PlacedReceipts> {
  const isNewest = ({ blockNumber }: ProofReceipt) =>
    newest?.hash !== undefined && blockNumber === newest.number
  const unknown = receipts.filter(
    (receipt) => namesBlock(receipt.blockHash) && !isNewest(receipt),
  )
  const blocks = await getBlockTimes(
    client,
    isBrief ? [] : unknown.map(({ blockNumber }) => blockNumber),
  )
  const blockOf = (receipt: ProofReceipt) =>
    isBrief || isNewest(receipt) ? newest : blocks.get(receipt.blockNumber)
  return {
    blocks,
    receipts: receipts.map((receipt) =>
      standsInBlock(receipt, blockOf(receipt))
        ? receipt
        : { ...receipt, blockHash: zeroHash },
    ),
  }
}

/** Like {@link placeReceipts}, for one receipt. */
export async function placeReceipt(
  client: Pick<Client, 'request'>,
  receipt: ProofReceipt,
  newest?: BlockHead | undefined,
): Promise<ProofReceipt> {
  const { receipts } = await placeReceipts(client, [receipt], { newest })
  return receipts[0] ?? receipt
}
