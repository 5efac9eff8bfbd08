import type { StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { apply, rulesOf } from '../model/apply.js'
import { joinChanges, writeChanges } from '../model/changes.js'

/**
 * Records whether an answer came of work that began when a capture was only
 * pre-confirmed, as part of the caller's database transaction. An answer counts
 * against the limits until a block has the capture, or is reported as
 * `servedUnpaid`. Without an answer, nothing is at risk any more.
 */
export async function endWork(
  context: Pick<OrdersContext, 'now' | 'policy'>,
  tables: StoreWriter,
  ids: readonly string[],
  { isAnswered }: { isAnswered: boolean },
): Promise<void> {
  if (ids.length === 0) return
  const found = await tables.orders.find({ ids })
  const rules = rulesOf(context)
  const ended = found.map((order) =>
    apply({ order }, { kind: 'endWork', isAnswered }, rules),
  )
  await writeChanges(tables, joinChanges(ended), rules.at)
}
