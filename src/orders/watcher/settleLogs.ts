import type { ReadLog } from '../../chain/logs/logTypes.js'
import type { Destination } from '../../store/types.js'
import type { PaymentLogs } from '../evidence/readPaymentLogs.js'
import {
  hashesOf,
  readTimedReceipts,
  type TimedReceipt,
} from '../evidence/readTimedReceipts.js'
import { type Changes, joinChanges, noChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import type { OrdersContext } from '../model/types.js'
import type { Watch } from './checkReorg.js'
import { matchReceipts } from './matchReceipts.js'
import { type Finding, settleFindings } from './settleFindings.js'
import { writeUnit } from './writeUnit.js'
import {
  settleUnmatched,
  type Unmatched,
  unmatchedOf,
} from './writeUnmatched.js'

/** Transactions in one unit of work. */
const unitSize = 100

/**
 * Writes what logs of a destination show and is not on record, through their
 * receipts.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or not with one whole chain; then nothing is written.
 */
export async function settleLogs(
  context: OrdersContext,
  watch: Watch,
  { transfers, spent }: PaymentLogs,
): Promise<Changes> {
  const fresh = await dropKnown(context, watch.destination, transfers)
  const receipts = await readTimedReceipts(watch, [...fresh, ...spent])
  const written: Changes[] = []
  for (let at = 0; at < receipts.length; at += unitSize) {
    context.signal?.throwIfAborted()
    const part = receipts.slice(at, at + unitSize)
    const findings = await matchReceipts(context, watch.destination, part)
    const unmatched = findUnmatched(watch.destination, {
      fresh,
      part,
      findings,
    })
    written.push(await writePart(context, watch, findings, unmatched))
  }
  return joinChanges([noChanges(), ...written])
}

/** Transfers that are not on record where they are. */
async function dropKnown(
  { store }: OrdersContext,
  { chainId }: Destination,
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

function writePart(
  context: OrdersContext,
  { lease }: Watch,
  findings: readonly Finding[],
  unmatched: readonly Unmatched[],
): Promise<Changes> {
  return writeUnit(
    context,
    async (tables) => {
      const ids = [...new Set(findings.map(({ orderId }) => orderId))]
      const collected = collectChanges(await loadOrders(tables, { ids }))
      await settleFindings(context, tables, { collected, findings })
      collected.add(await settleUnmatched(tables, unmatched, context.now()))
      return collected.close()
    },
    { lease },
  )
}

/** The new transfers of some receipts that no finding accounts for. */
function findUnmatched(
  destination: Destination,
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
    return receipt && !isTaken
      ? (unmatchedOf(log, destination, receipt) ?? [])
      : []
  })
}
