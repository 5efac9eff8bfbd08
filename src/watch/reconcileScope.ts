import { type Changes, joinChanges, noChanges } from '../ledger/changes.js'
import type { OrdersContext } from '../ledger/types.js'
import type { ReadLog } from '../reads/logTypes.js'
import type { Scope } from '../store/types.js'
import type { Watch } from './checkReorg.js'
import { findStart } from './findStart.js'
import { matchReceipts, type TimedReceipt } from './matchReceipts.js'
import { moveCursor } from './moveCursor.js'
import { readPaymentLogs } from './readPaymentLogs.js'
import { hashesOf, readTimedReceipts } from './readTimedReceipts.js'
import { type Finding, settleFindings } from './settleFindings.js'
import { addSeen } from './watchState.js'
import { writeUnit } from './writeUnit.js'
import {
  settleUnmatched,
  type Unmatched,
  unmatchedOf,
} from './writeUnmatched.js'

/** Transactions in one unit of work. */
const unitSize = 100

/** What a reconciliation read, and what was new. */
export type ScopeReconciliation = {
  scope: Scope
  fromBlock: bigint
  toBlock: bigint
  /** Payments of orders, unexpected ones included. */
  captured: number
  canceled: number
  consumed: number
  /** Payments of orders that had been given up: to be refunded. */
  unexpected: number
  /** Further payments of orders that are paid. */
  overpaid: number
  /** Payments without an order. */
  unmatched: number
}

/**
 * Reads everything that happened to a scope since its cursor, and some blocks
 * before, and writes what was not on record. The cursor moves when all of it is
 * written, beside whoever holds the lease too.
 *
 * @throws {@link NodeAnswerError} when the answers do not fit together, as
 * while the chain is reorganized; the cursor stays then.
 * @throws {@link LogRangeError} {@link NodeError} when the node refuses or does
 * not answer.
 */
export async function reconcileScope(
  context: OrdersContext,
  watch: Watch & {
    /** Goes back to the last final block. */
    isDeep: boolean
    /** Where to start instead. */
    fromBlock?: bigint | undefined
  },
): Promise<ScopeReconciliation> {
  const { client, scope, heads, memory } = watch
  const { cursor, fromBlock, isWhole } = await findStart(context, watch)
  const { number: toBlock, hash } = heads.latest
  const range = { fromBlock, toBlock }
  const { transfers, spent } = await readPaymentLogs(
    context,
    client,
    scope,
    range,
  )
  const fresh = await dropKnown(context, scope, transfers)
  const receipts = await readTimedReceipts(watch, [...fresh, ...spent])
  const seen = addSeen(memory.seen ?? cursor?.seen ?? [], heads.latest)
  const oldest = cursor && cursor.from < fromBlock ? cursor.from : fromBlock
  const changes = await writeAll(context, watch, { fresh, receipts })
  const after = { from: oldest, last: { number: toBlock, hash }, seen }
  if (isWhole) await moveCursor(context, watch, { before: cursor, after })
  const countOf = (wanted: string) =>
    changes.events.filter(({ type }) => type === wanted).length
  return {
    scope,
    ...range,
    captured: countOf('captured'),
    canceled: countOf('canceled'),
    consumed: countOf('consumed'),
    unexpected: countOf('refundDue'),
    overpaid: countOf('overpaid'),
    unmatched: countOf('unmatched'),
  }
}

/** Transfers that are not on record where they are. */
async function dropKnown(
  { store }: OrdersContext,
  { chainId }: Scope,
  transfers: readonly ReadLog[],
): Promise<ReadLog[]> {
  const hashes = hashesOf(transfers)
  if (!hashes.length) return []
  const known = await store.read(({ proofs }) =>
    proofs.find({ hashes, chainId }),
  )
  const places = new Set(
    known
      .filter(({ removed }) => !removed)
      .map((row) => `${row.blockHash}/${row.transactionHash}/${row.logIndex}`),
  )
  return transfers.filter(
    (log) =>
      !places.has(`${log.blockHash}/${log.transactionHash}/${log.logIndex}`),
  )
}

type Found = {
  fresh: readonly ReadLog[]
  receipts: readonly TimedReceipt[]
}

async function writeAll(
  context: OrdersContext,
  watch: Watch,
  { fresh, receipts }: Found,
): Promise<Changes> {
  const written: Changes[] = []
  for (let at = 0; at < receipts.length; at += unitSize) {
    const part = receipts.slice(at, at + unitSize)
    const findings = await matchReceipts(context, watch.scope, part)
    const unmatched = findUnmatched(watch.scope, { fresh, part, findings })
    written.push(await writePart(context, watch, findings, unmatched))
  }
  return joinChanges([noChanges(), ...written])
}

function writePart(
  context: OrdersContext,
  { lease }: Watch,
  findings: readonly Finding[],
  unmatched: readonly Unmatched[],
): Promise<Changes> {
  return writeUnit(
    context,
    async (tables) =>
      joinChanges([
        await settleFindings(context, tables, findings),
        await settleUnmatched(tables, unmatched, context.now()),
      ]),
    { lease },
  )
}

/** The new transfers of some receipts that no finding accounts for. */
function findUnmatched(
  scope: Scope,
  {
    fresh,
    part,
    findings,
  }: {
    fresh: readonly ReadLog[]
    part: readonly TimedReceipt[]
    findings: readonly Finding[]
  },
): Unmatched[] {
  const taken = new Set(
    findings.flatMap(({ evidence }) =>
      evidence.kind === 'capture'
        ? [`${evidence.proof.transactionHash}/${evidence.proof.logIndex}`]
        : [],
    ),
  )
  const timed = new Map(part.map((one) => [one.receipt.transactionHash, one]))
  return fresh.flatMap((log) => {
    const receipt = timed.get(log.transactionHash)
    const isTaken = taken.has(`${log.transactionHash}/${log.logIndex}`)
    return receipt && !isTaken ? (unmatchedOf(log, scope, receipt) ?? []) : []
  })
}
