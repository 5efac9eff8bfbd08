import type { Address } from 'viem'
import type { JudgedAt } from '../../core/types.js'
import type {
  Destination,
  ProofQuery,
  ProofRecord,
  Reader,
} from '../../store/types.js'
import { findStandingProofs } from '../watcher/findSettled.js'

type Tables = { proofs: Reader<ProofRecord, ProofQuery> }

/**
 * Token units that went from a payer to recipients of one token since the
 * payer's balance was read. What is not on record yet is not among them.
 *
 * Reads only what is on record since then, of all payers.
 */
export async function sumSpentSince(
  tables: Tables,
  destinations: readonly Destination[],
  { payer, at }: { payer: Address; at: JudgedAt },
): Promise<bigint> {
  const fromBlock = await findYoung(tables, destinations, at)
  const proofs = await findStandingProofs(tables, destinations, fromBlock)
  return proofs
    .filter((proof) => proof.payer === payer && isSince(proof, at))
    .reduce((sum, { value }) => sum + value, 0n)
}

/** By time first: contracts may see the block number of another chain. */
function isSince(
  { blockTime, blockNumber }: ProofRecord,
  { block, time }: JudgedAt,
): boolean {
  return blockTime === time ? blockNumber > block : blockTime > time
}

/** Rows of lost forks that are passed over at once. */
const mostRemoved = 20

/**
 * The first block without proofs from before, which is the next one; where the
 * number is that of a shorter chain it is found by steps that double, then halve.
 */
async function findYoung(
  { proofs }: Tables,
  destinations: readonly Destination[],
  { block, time }: JudgedAt,
): Promise<bigint> {
  /** Where the first proof from a block on is, if it is from before. */
  const findOld = async (fromBlock: bigint): Promise<bigint | undefined> => {
    const rows = await proofs.find({
      destinations,
      fromBlock,
      limit: mostRemoved,
    })
    const first = rows.find(({ removed }) => !removed)
    return first && first.blockTime < time ? first.blockNumber : undefined
  }
  let old = block
  let young = block + 1n
  for (let step = 1n; ; step *= 2n) {
    const found = await findOld(young)
    if (found === undefined) break
    old = found
    young = old + step
  }
  while (young - old > 1n) {
    const middle = (old + young) / 2n
    const found = await findOld(middle)
    if (found === undefined) young = middle
    else old = found
  }
  return young
}
