import type { Address } from 'viem'
import type { VerifiedAt } from '../../core/types.js'
import type {
  Destination,
  ProofQuery,
  ProofRecord,
  Reader,
} from '../../store/types.js'
import { findStandingProofs } from '../watcher/findSettled.js'

type Tables = { proofs: Reader<ProofRecord, ProofQuery> }

/**
 * Sums the token units that a payer paid to recipients of one token since the
 * payer's balance was read. Knows only payments on record.
 *
 * Loads only proofs since then, but those of all payers.
 */
export async function sumSpentSince(
  tables: Tables,
  destinations: readonly Destination[],
  { payer, at }: { payer: Address; at: VerifiedAt },
): Promise<bigint> {
  const fromBlock = await findYoung(tables, destinations, at)
  const proofs = await findStandingProofs(tables, destinations, fromBlock)
  return proofs
    .filter((proof) => proof.payer === payer && isSince(proof, at))
    .reduce((sum, { value }) => sum + value, 0n)
}

/**
 * Compares times first: on some chains, contracts see another chain's block
 * number.
 */
function isSince(
  { blockTime, blockNumber }: ProofRecord,
  { block, time }: VerifiedAt,
): boolean {
  return blockTime === time ? blockNumber > block : blockTime > time
}

/** Removed proofs to skip in one query. */
const mostRemoved = 20

/**
 * Finds the first block from which on all proofs are newer than `time`. Usually
 * it is the block after `block`. A binary search finds it when `block` is a
 * block number of another chain.
 */
async function findYoung(
  { proofs }: Tables,
  destinations: readonly Destination[],
  { block, time }: VerifiedAt,
): Promise<bigint> {
  /** Block of the first proof from this block on, if that proof is older. */
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
