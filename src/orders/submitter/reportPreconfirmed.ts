import type { TransactionRecord } from '../../store/types.js'
import { noChanges, withEvent, writeChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { kindOf, knowsKind } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { paymentOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterView } from './getSubmitterView.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Reports captures in the block being made. They decide nothing: the order
 * stays in flight until a sealed block has the capture.
 *
 * @throws {@link StaleRecordError} when an order was written in between.
 */
export async function reportPreconfirmed(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<void> {
  const shown = submitter.inFlight.rows.filter(
    ({ kind, hash, orderId }) =>
      kind === 'capture' && orderId && hash && view.preconfirmed.has(hash),
  )
  if (shown.length === 0) return
  const ids = shown.flatMap(({ orderId }) => orderId ?? [])
  const rows = await context.store.read((tables) => loadOrders(tables, { ids }))
  const collected = collectChanges(rows)
  const changes = noChanges()
  for (const row of shown) {
    const stored = collected.find(row.orderId, row.attempt)
    const reported = stored && reportOne(context, stored, row, view)
    if (!reported) continue
    changes.orders.push(reported.order)
    changes.events.push(reported.event)
  }
  if (changes.orders.length === 0) return
  await context.store.write((tables) => writeChanges(tables, changes), {
    lease: submitter.lease,
  })
}

function reportOne(
  context: Pick<OrdersContext, 'kinds' | 'now'>,
  { order, attempt }: StoredOrder,
  { hash }: TransactionRecord,
  { preconfirmed }: SubmitterView,
): ReturnType<typeof withEvent> | undefined {
  const receipt = hash && preconfirmed.get(hash)
  const isNew = order.state === 'capturing' && order.settledHash !== hash
  if (!receipt || !isNew || !knowsKind(context, order)) return undefined
  const payment = paymentOf(context, order, attempt)
  if (!kindOf(context, order).prove(receipt, payment)) return undefined
  const at = context.now()
  return withEvent(
    order,
    { type: 'preconfirmed', at, data: { transactionHash: hash } },
    { finality: 'preconfirmed', settledHash: hash },
  )
}
