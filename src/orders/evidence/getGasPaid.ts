import type { Client, Hash } from 'viem'
import { namesBlock, standsInBlock } from '../../chain/logs/standsInBlock.js'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { parseQuantity, requestNode } from '../../chain/rpc/requestNode.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { parseReceipt } from '../../chain/state/getReceipt.js'
import type { ProofReceipt } from '../../core/receiptProof.js'

/** A mined transaction, and what its account paid for gas. */
export type MinedTransaction = Pick<ProofReceipt, 'status' | 'logs'> & {
  transactionHash: Hash
  blockNumber: bigint
  /** Time of the block in Unix seconds. */
  blockTime: bigint
  /** Gas cost in wei, including the fee that a rollup takes for data on L1. */
  fee: bigint
}

const method = 'eth_getTransactionReceipt'

/**
 * Gets the gas cost of transactions by hash. Leaves out those that are not
 * mined. A batching transport sends a hundred requests in one.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its chain has another block with the number of a receipt's.
 */
export async function getGasPaid(
  client: Client,
  hashes: readonly Hash[],
): Promise<ReadonlyMap<Hash, MinedTransaction>> {
  const answers = await askInChunks(hashes, async (hash) => {
    const answer = await requestNode(client, method, [hash])
    const receipt = parseReceipt(answer, method)
    const { l1Fee } = Object(answer)
    return (
      receipt && { ...receipt, l1Fee: parseQuantity(l1Fee ?? '0x0', method) }
    )
  })
  const mined = answers.flatMap((receipt) =>
    receipt && namesBlock(receipt.blockHash) ? receipt : [],
  )
  const times = await getBlockTimes(
    client,
    mined.map(({ blockNumber }) => blockNumber),
  )
  return new Map(
    mined.flatMap((receipt): [Hash, MinedTransaction][] => {
      const { transactionHash, blockNumber } = receipt
      const block = times.get(blockNumber)
      if (!block) return []
      if (!standsInBlock(receipt, block))
        throw new NodeAnswerError({
          method,
          problem: 'is outdated by a reorganization: read again',
        })
      const { gasUsed, effectiveGasPrice, l1Fee, status, logs } = receipt
      const fee = gasUsed * effectiveGasPrice + l1Fee
      const blockTime = block.timestamp
      const place = { transactionHash, blockNumber, blockTime }
      return [[transactionHash, { ...place, fee, status, logs }]]
    }),
  )
}
