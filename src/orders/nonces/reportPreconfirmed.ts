import { ordersOf } from '../../store/movements.js'
import type { TransactionRecord } from '../../store/types.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { apply, rulesOf } from '../model/apply.js'
import { type Changes, noChanges, writeChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { kindOf, knowsKind } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { paymentOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'

/**
 * Adds an event to orders whose capture the pending block shows. This decides
 * nothing: the order stays in flight until a mined block has the capture.
 * Returns the changed orders. For those with a reserved early answer, the
 * caller may now be answered.
 *
 * @throws {@link StaleRecordError} when an order was written meanwhile.
 */
export async function reportPreconfirmed(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<StoredOrder[]> {
  const shown = submitter.inFlight.rows.filter(
    ({ kind, hash }) =>
      kind === 'capture' && hash && view.preconfirmed.has(hash),
  )
  if (shown.length === 0) return []
  const ids = ordersOf(shown)
  const rows = await context.store.read((tables) => loadOrders(tables, { ids }))
  const collected = collectChanges(rows)
  for (const row of shown)
    for (const one of row.movements) {
      const stored = collected.find(one.orderId, one.attempt)
      if (stored) collected.add(reportOne(context, stored, row, view))
    }
  const changes = collected.close()
  if (changes.orders.length > 0)
    await context.store.write(
      (tables) => writeChanges(tables, changes, context.now()),
      {
        lease: submitter.lease,
      },
    )
  for (const { hash } of shown) if (hash) submitter.inFlight.rememberShown(hash)
  const isChanged = new Set(changes.orders.map(({ id }) => id))
  return collected.written().filter(({ order }) => isChanged.has(order.id))
}

/** Reports one capture, and records that its caller may be answered early. */
function reportOne(
  context: Pick<OrdersContext, 'kinds' | 'now' | 'policy'>,
  { order, attempt }: StoredOrder,
  { hash }: TransactionRecord,
  { preconfirmed }: SubmitterView,
): Changes {
  const receipt = hash && preconfirmed.get(hash)
  if (!receipt) return noChanges()
  const shown = apply(
    { order },
    { kind: 'preconfirmed', hash },
    rulesOf(context),
  )
  if (shown.orders.length === 0 || !knowsKind(context, order))
    return noChanges()
  const payment = paymentOf(context, order, attempt)
  const isProven = kindOf(context, order).prove(receipt, payment)
  return isProven ? shown : noChanges()
}
