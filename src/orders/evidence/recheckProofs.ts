import type { Client, Hash } from 'viem'
import { namesBlock, standsInBlock } from '../../chain/logs/standsInBlock.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getChainId } from '../../chain/rpc/requestNode.js'
import {
  type BlockTime,
  getBlockTimes,
} from '../../chain/state/getBlockTimes.js'
import { getReceipts } from '../../chain/state/getReceipt.js'
import type { ProofReceipt } from '../../core/receiptProof.js'

export type SeenProof = {
  transactionHash: Hash
  blockNumber: bigint
  /**
   * Hash of the transaction's block. Absent if the store has only the block
   * number.
   */
  blockHash?: Hash | undefined
}

/** The result of checking a stored transaction against the chain again. */
export type Recheck<seen> = { proof: seen } & (
  | { verdict: 'same' }
  | { verdict: 'moved'; receipt: ProofReceipt; blockTime: bigint }
  /**
   * Its block was replaced by a reorg, and the node has no receipt of the
   * transaction.
   */
  | { verdict: 'gone'; replacedBy: Hash }
  /** The node's answers contradict each other, or are not enough to decide. */
  | { verdict: 'unclear' }
)

type RecheckOptions = {
  chainId: number
}

/**
 * Checks whether transactions are still in their blocks. Sends all requests in
 * one turn of the event loop, so that a transport can batch them; transactions
 * that moved need a second turn. A missing receipt alone proves nothing: the
 * node must also return another block at that number twice, and be on the right
 * chain.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function recheckProofs<seen extends SeenProof>(
  client: Client,
  proofs: readonly seen[],
  { chainId }: RecheckOptions,
): Promise<Recheck<seen>[]> {
  const checked = await checkPlaces(client, proofs)
  const gone = checked.filter(({ verdict }) => verdict === 'gone')
  if (!gone.length) return checked
  const [second, named] = await Promise.all([
    checkPlaces(
      client,
      gone.map(({ proof }) => proof),
    ),
    getChainId(client),
  ])
  if (named !== chainId)
    throw new NodeAnswerError({
      method: 'eth_chainId',
      problem: `names chain ${named}, and not ${chainId}`,
    })
  const again = new Map(second.map((one) => [one.proof, one]))
  return checked.map((one) => {
    if (one.verdict !== 'gone') return one
    const other = again.get(one.proof)
    const isSame =
      other?.verdict === 'gone' && other.replacedBy === one.replacedBy
    return isSame ? one : { proof: one.proof, verdict: 'unclear' }
  })
}

/**
 * Like {@link recheckProofs}, but if the node does not answer about a
 * transaction, that one is `unclear` and does not stop the others. Asks about
 * all at once, and about each alone if that fails.
 *
 * @param options.onFailure called for each transaction without an answer.
 * @throws {@link NodeError} {@link NodeAnswerError} when there are several
 * transactions and the node answers about none.
 */
export async function recheckApart<seen extends SeenProof>(
  client: Client,
  proofs: readonly seen[],
  {
    chainId,
    onFailure,
  }: RecheckOptions & { onFailure: (proof: seen, error: unknown) => void },
): Promise<Recheck<seen>[]> {
  try {
    return await recheckProofs(client, proofs, { chainId })
  } catch (error) {
    // Start all in one turn of the event loop, so that a batching transport
    // sends one request.
    const done = await Promise.all(
      proofs.map(async (proof) => {
        const alone = proofs.length > 1
        const asked = alone
          ? recheckProofs(client, [proof], { chainId })
          : Promise.reject(error)
        return asked.then(
          (checked) => ({ proof, checked, error: undefined }),
          (failure: unknown) => ({ proof, checked: [], error: failure }),
        )
      }),
    )
    const failed = done.filter(({ checked }) => !checked.length)
    if (failed.length === proofs.length && failed.length > 1) throw error
    for (const one of failed) onFailure(one.proof, one.error)
    return done.flatMap(({ proof, checked }): Recheck<seen>[] =>
      checked.length ? [...checked] : [{ proof, verdict: 'unclear' }],
    )
  }
}

async function checkPlaces<seen extends SeenProof>(
  client: Client,
  proofs: readonly seen[],
): Promise<Recheck<seen>[]> {
  const hashes = [...new Set(proofs.map((proof) => proof.transactionHash))]
  const [found, blocks] = await Promise.all([
    getReceipts(client, hashes),
    getBlockTimes(
      client,
      proofs.map(({ blockNumber }) => blockNumber),
    ),
  ])
  const receipts = new Map<Hash, ProofReceipt>()
  for (const [at, hash] of hashes.entries()) {
    const receipt = found[at]
    if (receipt && namesBlock(receipt.blockHash)) receipts.set(hash, receipt)
  }
  const moved = [...receipts.values()].filter(
    ({ blockNumber }) => !blocks.has(blockNumber),
  )
  const others = await getBlockTimes(
    client,
    moved.map(({ blockNumber }) => blockNumber),
  )
  const canonical = new Map([...blocks, ...others])
  return proofs.map((proof) =>
    judgeProof(proof, receipts.get(proof.transactionHash), canonical),
  )
}

function judgeProof<seen extends SeenProof>(
  proof: seen,
  receipt: ProofReceipt | undefined,
  canonical: ReadonlyMap<bigint, BlockTime>,
): Recheck<seen> {
  const there = canonical.get(proof.blockNumber)
  const expected = proof.blockHash ?? receipt?.blockHash
  const isThere =
    receipt?.blockNumber === proof.blockNumber &&
    receipt.blockHash === expected &&
    standsInBlock(receipt, there)
  if (isThere) return { proof, verdict: 'same' }
  if (receipt) {
    const now = canonical.get(receipt.blockNumber)
    return now && standsInBlock(receipt, now)
      ? { proof, verdict: 'moved', receipt, blockTime: now.timestamp }
      : { proof, verdict: 'unclear' }
  }
  // A missing receipt alone may only mean that the node is behind.
  const isReplaced =
    there !== undefined &&
    proof.blockHash !== undefined &&
    there.hash !== proof.blockHash
  return isReplaced
    ? { proof, verdict: 'gone', replacedBy: there.hash }
    : { proof, verdict: 'unclear' }
}

/**
 * Returns an error if the node shows neither that a transaction is still in its
 * block nor that the block was replaced.
 */
export function unclearError({
  transactionHash,
  blockNumber,
}: SeenProof): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_getTransactionReceipt',
    problem: `does not show whether transaction ${transactionHash} is still in block ${blockNumber}`,
  })
}
