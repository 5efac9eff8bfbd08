import type { StoreWriter } from '../../store/types.js'
import { noChanges, writeChanges } from '../model/changes.js'
import { afterWork } from '../model/earlyAnswer.js'
import type { OrdersContext } from '../model/types.js'

/**
 * Records whether an answer came of work that began when a capture was only
 * pre-confirmed, as part of the caller's database transaction. An answer counts
 * against the limits until a block has the capture, or is reported as
 * `servedUnpaid`. Without an answer, nothing is at risk any more.
 */
export async function endWork(
  { now }: Pick<OrdersContext, 'now'>,
  tables: StoreWriter,
  ids: readonly string[],
  { isAnswered }: { isAnswered: boolean },
): Promise<void> {
  if (ids.length === 0) return
  const found = await tables.orders.find({ ids })
  const orders = found.flatMap((order) => {
    const after = afterWork(order, isAnswered)
    return after === order ? [] : [after]
  })
  await writeChanges(tables, { ...noChanges(), orders }, now())
}
