import { parseMovementId } from '../../core/movementIds.js'
import type { Destination, EarlyRow, StoreReader } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { describeToken } from './describeToken.js'
import { rowOfUnpaid } from './planRows.js'
import type { LedgerRange, LedgerRow } from './types.js'

/** Most orders whose events are read in one query. */
const most = 500

/**
 * Yields the payments of a destination that were answered at `preconfirmed`,
 * while only the pending block showed their capture, and that failed. The time
 * of each row is when the failure became known.
 */
export async function* rowsOfUnpaid(
  context: OrdersContext,
  destination: Destination,
  { from, to }: LedgerRange,
): AsyncGenerator<LedgerRow> {
  const { chainId, token, recipient } = destination
  const found = await context.store.read(({ orders }) =>
    orders.findEarly({ chainId, token, early: ['unpaid'] }),
  )
  const own = found.filter(
    (row) => row.recipient === recipient && !parseMovementId(row.id),
  )
  if (own.length === 0) return
  const unit = await describeToken(context, destination)
  const rows: LedgerRow[] = []
  for (let at = 0; at < own.length; at += most) {
    const some = own.slice(at, at + most)
    const times = await context.store.read((tables) => loadTimes(tables, some))
    for (const { id, payer, value, captureValue } of some) {
      const blockTime = times.get(id) ?? 0n
      const unpaid = captureValue ?? value
      if (blockTime >= from && blockTime < to)
        rows.push(
          rowOfUnpaid(destination, unit, {
            orderId: id,
            payer,
            unpaid,
            blockTime,
          }),
        )
    }
  }
  yield* rows.sort((one, other) => (one.blockTime < other.blockTime ? -1 : 1))
}

/**
 * Loads the time of the last `servedUnpaid` event of each order, in Unix
 * seconds.
 */
async function loadTimes(
  { events }: Pick<StoreReader, 'events'>,
  rows: readonly EarlyRow[],
): Promise<ReadonlyMap<string, bigint>> {
  const times = new Map<string, bigint>()
  const orderIds = rows.map(({ id }) => id)
  for (const { type, orderId, at } of await events.find({ orderIds }))
    if (type === 'servedUnpaid' && orderId) times.set(orderId, at / 1_000n)
  return times
}
