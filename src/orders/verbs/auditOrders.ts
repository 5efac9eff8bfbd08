import type { Client } from 'viem'
import { getHeads } from '../../chain/state/getHeads.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBlockNumber } from '../../core/parseBlockNumber.js'
import { takeTurns } from '../../core/takeTurns.js'
import { wait } from '../../core/wait.js'
import type { Destination, ProofQuery, ProofRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { underSignal } from '../loop/endingContext.js'
import { findFirstBlock } from '../watcher/findFirstBlock.js'
import { findProofPages, findStandingProofs } from '../watcher/findSettled.js'
import {
  type AuditDifference,
  type AuditSum,
  type AuditTally,
  addTally,
  auditRange,
  compareRows,
  isTransfer,
  noTally,
  type RangeAudit,
} from './auditRange.js'
import { auditPace, auditPage, planAudit } from './planAudit.js'

/** Parameters of `audit`: which blocks to compare. */
export type AuditParameters = {
  /**
   * First block to compare.
   * @default the block of the oldest order or of the oldest stored payment
   */
  fromBlock?: bigint | undefined
  /** Last block to compare, at most the newest. @default the newest block */
  toBlock?: bigint | undefined
  /**
   * Ends the audit when it aborts; the audit then rejects with the signal's
   * reason.
   */
  signal?: AbortSignal | undefined
}

/**
 * All transfers to one recipient in one token, compared with the stored
 * payments.
 */
type DestinationAudit = {
  destination: Destination
  fromBlock: bigint
  toBlock: bigint
  /** Count and sum of all transfers to the recipient on chain. */
  chain: AuditSum
  /** Count and sum of the stored payments of orders. */
  captured: AuditSum
  /** Count and sum of the stored payments that belong to no order. */
  unmatched: AuditSum
  /** Count and sum of the stored refunds of orders. */
  refunded: AuditSum
  differences: readonly AuditDifference[]
}

/** Result of `audit`: the transfers on chain compared with the store. */
export type AuditReport = {
  /** True when chain and store agree exactly, in the compared blocks. */
  ok: boolean
  destinations: readonly DestinationAudit[]
}

/**
 * Implements `audit` of `DestinationOrders`. Reads the store first, then the
 * chain.
 */
export async function auditOrders(
  context: OrdersContext,
  parameters: AuditParameters = {},
): Promise<AuditReport> {
  checkMembers(parameters, ['fromBlock', 'toBlock', 'signal'])
  const range = {
    fromBlock: parseBlockNumber(parameters.fromBlock, 'fromBlock'),
    toBlock: parseBlockNumber(parameters.toBlock, 'toBlock'),
  }
  const turn = takeTurns()
  return underSignal(context, async (it) => {
    const destinations = await Promise.all(
      it.destinations.map((destination) =>
        auditDestination(it, { destination, turn }, range),
      ),
    )
    const ok = destinations.every(({ differences }) => differences.length === 0)
    return { ok, destinations }
  })
}

async function auditDestination(
  context: OrdersContext,
  { destination, turn }: Pick<RangeAudit, 'destination' | 'turn'>,
  given: AuditParameters,
): Promise<DestinationAudit> {
  const client = clientOf(context, destination)
  const { latest } = await getHeads(client, context.policy)
  const first =
    given.fromBlock ??
    (await findFirstBlock(context, client, destination, latest))
  const isMeant = (row: ProofRecord) =>
    isTransfer(row, destination) &&
    row.blockNumber >= first &&
    (given.toBlock === undefined || row.blockNumber <= given.toBlock)
  const ahead = (
    await context.store.read((tables) =>
      findStandingProofs(
        tables,
        [destination],
        latest.number + 1n,
        context.signal,
      ),
    )
  ).filter(isMeant)
  // Ask for the newest block after reading the store, so that no stored payment
  // is newer than the chain that we see.
  const toBlock = await findLast(context, client, {
    wanted: given.toBlock,
    recorded: ahead.at(-1)?.blockNumber ?? 0n,
  })
  const fromBlock =
    given.fromBlock === undefined && first > toBlock ? toBlock : first
  const audit = { client, destination, turn }
  const tally = await auditRanges(context, audit, { fromBlock, toBlock })
  const recorded = ahead.filter(({ blockNumber }) => blockNumber > toBlock)
  const rest = { moved: [], recorded, isMeant }
  addTally(tally, await compareRows(context, destination, rest))
  tally.differences.sort(inChainOrder)
  return { destination, fromBlock, toBlock, ...tally }
}

/** Block ranges that are compared at the same time. */
const mostRanges = 4

/**
 * Compares block range by block range, a few at the same time, so that memory
 * does not grow with the number of payments.
 */
async function auditRanges(
  context: OrdersContext,
  audit: RangeAudit,
  blocks: { fromBlock: bigint; toBlock: bigint },
): Promise<AuditTally> {
  const { store, signal } = context
  const { destination, turn } = audit
  const proofs = {
    find: async (query: ProofQuery) => {
      await turn()
      signal?.throwIfAborted()
      return store.read((tables) => tables.proofs.find(query))
    },
  }
  const record = findProofPages(
    { proofs },
    [destination],
    blocks.fromBlock,
    auditPage,
  )
  const pace = auditPace()
  const tally = noTally()
  const running = new Set<Promise<void>>()
  for await (const range of planAudit(record, blocks, pace)) {
    signal?.throwIfAborted()
    const recorded = range.recorded.filter((row) =>
      isTransfer(row, destination),
    )
    const work = auditRange(context, audit, { ...range, recorded })
      .then((found) => {
        pace.note(found.chain.count, range.toBlock - range.fromBlock + 1n)
        addTally(tally, found)
      })
      .finally(() => running.delete(work))
    running.add(work)
    // The result is awaited below. Without this handler, a failure before that
    // would be an unhandled rejection.
    work.catch(() => undefined)
    if (running.size >= mostRanges) await Promise.race(running)
  }
  await Promise.all(running)
  return tally
}

function inChainOrder(one: AuditDifference, other: AuditDifference): number {
  return (
    Number(one.blockNumber - other.blockNumber) || one.logIndex - other.logIndex
  )
}

/**
 * How many times at most we ask the node for its newest block while the store
 * has a payment in a block that the node does not have yet.
 */
const mostLooks = 4

/**
 * Returns the last block to read. If the node has not yet reached the block of
 * a stored payment, waits for it, up to 2 seconds.
 */
async function findLast(
  { policy, signal }: OrdersContext,
  client: Client,
  { wanted, recorded }: { wanted: bigint | undefined; recorded: bigint },
): Promise<bigint> {
  for (let look = 1; ; look++) {
    const { number } = (await getHeads(client, policy)).latest
    // Never read past the newest block: blocks that do not exist yet would cost
    // many requests.
    if (wanted !== undefined && wanted <= number) return wanted
    if (recorded <= number || look === mostLooks) return number
    await wait(125 * 2 ** look, signal)
    signal?.throwIfAborted()
  }
}
