import type { Destination } from '../../store/types.js'
import { readPaymentLogs } from '../evidence/readPaymentLogs.js'
import type { OrdersContext } from '../model/types.js'
import type { Watch } from './checkReorg.js'
import { findStart } from './findStart.js'
import { moveCursor } from './moveCursor.js'
import { settleLogs } from './settleLogs.js'
import { addSeen } from './watchState.js'

/** What a reconciliation read, and what was new. */
export type DestinationReconciliation = {
  destination: Destination
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
 * Reads everything that happened to a destination since its cursor, and some blocks
 * before, and writes what was not on record. The cursor moves when all of it is
 * written, beside whoever holds the lease too.
 *
 * @throws {@link NodeAnswerError} when the answers do not fit together, as
 * while the chain is reorganized; the cursor stays then.
 * @throws {@link LogRangeError} {@link NodeError} when the node refuses or does
 * not answer.
 */
export async function reconcileDestination(
  context: OrdersContext,
  watch: Watch & {
    /** Goes back to the last final block. */
    isDeep: boolean
    /** Where to start instead. */
    fromBlock?: bigint | undefined
  },
): Promise<DestinationReconciliation> {
  const { client, destination, heads, memory } = watch
  // Reading up to a block that does not exist could take forever.
  await heads.confirm()
  const { cursor, fromBlock, isWhole } = await findStart(context, watch)
  const { number: toBlock, hash } = heads.latest
  const range = { fromBlock, toBlock }
  const logs = await readPaymentLogs(context, client, destination, range)
  const changes = await settleLogs(context, watch, logs)
  const seen = addSeen(memory.seen ?? cursor?.seen ?? [], heads.latest)
  const oldest = cursor && cursor.from < fromBlock ? cursor.from : fromBlock
  const after = { from: oldest, last: { number: toBlock, hash }, seen }
  if (isWhole) await moveCursor(context, watch, { before: cursor, after })
  const countOf = (wanted: string) =>
    changes.events.filter(({ type }) => type === wanted).length
  return {
    destination,
    ...range,
    captured: countOf('captured'),
    canceled: countOf('canceled'),
    consumed: countOf('consumed'),
    unexpected: countOf('refundDue'),
    overpaid: countOf('overpaid'),
    unmatched: countOf('unmatched'),
  }
}
