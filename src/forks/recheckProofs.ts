import type { Client, Hash } from 'viem'
import { type ProofReceipt, zeroHash } from '../base/receiptProof.js'
import { type BlockTime, getBlockTimes } from '../reads/getBlockTimes.js'
import { getReceipts } from '../reads/getReceipts.js'

/** Where something was seen on the chain. */
export type SeenProof = {
  transactionHash: Hash
  blockNumber: bigint
  /** Absent where only the height was kept. */
  blockHash?: Hash | undefined
}

/** What the chain says now of what it once showed. */
export type Recheck<seen> = { proof: seen } & (
  | { verdict: 'same' }
  | { verdict: 'moved'; receipt: ProofReceipt; blockTime: bigint }
  | { verdict: 'gone' }
  /** The answers do not fit together yet, or the chain is not as far again. */
  | { verdict: 'unclear' }
)

/**
 * Looks again at what was seen, in requests of one tick, and of another for
 * what moved. A receipt that is missing takes nothing back: the node must also
 * know another block at that height.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function recheckProofs<seen extends SeenProof>(
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
    if (receipt && receipt.blockHash !== zeroHash) receipts.set(hash, receipt)
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
    there?.hash === expected
  if (isThere) return { proof, verdict: 'same' }
  if (receipt) {
    const now = canonical.get(receipt.blockNumber)
    return now && now.hash === receipt.blockHash
      ? { proof, verdict: 'moved', receipt, blockTime: now.timestamp }
      : { proof, verdict: 'unclear' }
  }
  // Without a known hash, a missing receipt could be a lagging node's.
  const isReplaced =
    there !== undefined &&
    proof.blockHash !== undefined &&
    there.hash !== proof.blockHash
  return { proof, verdict: isReplaced ? 'gone' : 'unclear' }
}
