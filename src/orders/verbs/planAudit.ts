import { addAll } from '../../core/addAll.js'
import type { ProofRecord } from '../../store/types.js'
import type { RecordedRange } from './auditRange.js'

/**
 * Number of blocks in the first range, before we know how many transfers the
 * blocks contain.
 */
const firstBlocks = 256n

/**
 * Most blocks in a range: most providers return the logs of so many in one
 * request.
 */
const mostBlocks = 2000n

/**
 * Number of stored payments on a page, and of transfers that a range should
 * have. Comparing this many blocks the event loop for some milliseconds.
 */
export const auditPage = 150

/** Upper end of a range without limit: no chain reaches this block number. */
const lastBlock = 2n ** 64n

/**
 * Decides how many blocks the next range of an audit contains, by the number of
 * transfers found so far.
 */
export type AuditPace = {
  blocks: bigint
  /**
   * Adapts the width to the number of transfers that were found in these
   * blocks.
   */
  note(found: number, blocks: bigint): void
}

/** Makes the next ranges wider after few transfers, and narrower after many. */
export function auditPace(): AuditPace {
  const pace: AuditPace = {
    blocks: firstBlocks,
    note: (found, blocks) => {
      const wanted = (blocks * BigInt(auditPage)) / BigInt(found || 1)
      const limits = [wanted, pace.blocks * 2n, mostBlocks]
      const next = limits.reduce((low, one) => (one < low ? one : low))
      pace.blocks = next > 0n ? next : 1n
    },
  }
  return pace
}

/**
 * Cuts blocks into ranges, each with its stored payments. A range ends where a
 * page of payments ends, so that no range is large.
 *
 * @param record pages of stored payments, sorted by block, each payment once.
 * @param pace read before each range.
 */
export async function* planAudit(
  record: AsyncIterator<readonly ProofRecord[]>,
  { fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint },
  pace: Pick<AuditPace, 'blocks'>,
): AsyncGenerator<RecordedRange> {
  let rows: ProofRecord[] = []
  // The last block whose rows are all loaded. A later block may have more rows
  // on the next page.
  let known = fromBlock - 1n
  let from = fromBlock
  do {
    while (known < from) {
      const { done, value } = await record.next()
      if (done) known = lastBlock
      else addAll(rows, value)
      const last = rows.at(-1)
      if (!done && last) known = last.blockNumber - 1n
    }
    const ends = [from + pace.blocks - 1n, known, toBlock]
    const end = ends.reduce((low, one) => (one < low ? one : low))
    const isIn = ({ blockNumber }: ProofRecord) => blockNumber <= end
    yield { fromBlock: from, toBlock: end, recorded: rows.filter(isIn) }
    rows = rows.filter((row) => !isIn(row))
    from = end + 1n
  } while (from <= toBlock)
}
