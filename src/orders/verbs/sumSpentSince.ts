import type { Address } from 'viem'
import type { VerifiedAt } from '../../core/types.js'
import type {
  Destination,
  OrderRecord,
  ProofQuery,
  ProofRecord,
  Reader,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findStandingProofs } from '../watcher/findSettled.js'

type Tables = { proofs: Reader<ProofRecord, ProofQuery> }

/** A payer, and the block at which its token balance was read. */
type Spender = {
  context: Pick<OrdersContext, 'destinations'>
  found: { order: Pick<OrderRecord, 'chainId' | 'token'> }
  payer: Address
  at: VerifiedAt
}

/**
 * Sums, for each payer, the token units that it paid to our recipients since
 * its balance was read. Counts only payments that the store knows.
 *
 * Payers whose balances were read at the same block share one query, which
 * loads the payments of all payers since that block.
 */
export async function sumSpentSince<spender extends Spender>(
  tables: Tables,
  spenders: readonly spender[],
): Promise<ReadonlyMap<spender, bigint>> {
  const known = new Map<string, ProofRecord[]>()
  const contexts = [...new Set(spenders.map(({ context }) => context))]
  const sums = new Map<spender, bigint>()
  for (const spender of spenders) {
    const { context, found, payer, at } = spender
    const { chainId, token } = found.order
    const key = `${contexts.indexOf(context)} ${chainId} ${token} ${at.block} ${at.time}`
    const paid = context.destinations.filter(
      (destination) =>
        destination.chainId === chainId && destination.token === token,
    )
    const proofs = known.get(key) ?? (await findSince(tables, paid, at))
    known.set(key, proofs)
    sums.set(
      spender,
      proofs
        .filter((proof) => proof.payer === payer)
        .reduce((sum, { value }) => sum + value, 0n),
    )
  }
  return sums
}

async function findSince(
  tables: Tables,
  destinations: readonly Destination[],
  at: VerifiedAt,
): Promise<ProofRecord[]> {
  const fromBlock = await findYoung(tables, destinations, at)
  const proofs = await findStandingProofs(tables, destinations, fromBlock)
  return proofs.filter((proof) => isSince(proof, at))
}

/**
 * Compares block times first, because block numbers may differ in kind: on some
 * L2 chains, a contract sees the block number of the L1.
 */
function isSince(
  { blockTime, blockNumber }: ProofRecord,
  { block, time }: VerifiedAt,
): boolean {
  return blockTime === time ? blockNumber > block : blockTime > time
}

/**
 * Most rows to read past in one query, because a reorg removed their payments.
 */
const mostRemoved = 20

/**
 * Finds the first block from which on all stored payments are newer than
 * `time`. That is usually the block after `block`. Where `block` is the block
 * number of another chain (the L1), a binary search finds it.
 */
async function findYoung(
  { proofs }: Tables,
  destinations: readonly Destination[],
  { block, time }: VerifiedAt,
): Promise<bigint> {
  /**
   * Returns the block of the first payment at or after this block, if that
   * payment is older than `time`.
   */
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
