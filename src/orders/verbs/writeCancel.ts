import type { StoreReader, StoreWriter } from '../../store/types.js'
import {
  moveOrder,
  noChanges,
  withEvent,
  writeChanges,
} from '../model/changes.js'
import { lastSecondOf } from '../model/endsOf.js'
import { isScheduled } from '../model/scheduled.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CancellationVerdict, OrdersContext } from '../model/types.js'
import { isRelaying } from '../submitter/rejectOrder.js'

export type CancelRefusal = Extract<
  CancellationVerdict,
  { ok: false }
>['reason']

export function refuseCancel(
  found: StoredOrder,
  reason: CancelRefusal,
): CancellationVerdict {
  return { ok: false, reason, order: showOrder(found) }
}

/** Returns why an order in this state takes no cancellation. */
export function findRefusal({
  order,
  attempt,
}: StoredOrder): CancelRefusal | undefined {
  // A subscription's order has no payment to cancel: its permission is revoked.
  if (isScheduled(order)) return 'notOpen'
  switch (order.state) {
    case 'captured':
    case 'canceled':
    case 'consumed':
      return 'consumed'
    case 'expired':
      return 'expired'
    case 'drafted':
      return 'notOpen'
    default:
      // The order may have been voided before the buyer signed.
      return attempt.payer === undefined ? 'notOpen' : undefined
  }
}

/**
 * Stores a cancellation that passed its checks, and acts by the order's state
 * and the policy.
 */
export async function writeCancel(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<CancellationVerdict> {
  const { order, attempt } = found
  if (order.state === 'canceling') return accept(found)
  const isRelayed = await mayRelay(context, tables, found)
  await tables.attempts.update([attempt])
  if (order.state === 'capturing')
    return keepRequested(context, tables, found, isRelayed ? 'cancel' : 'void')
  return isRelayed || order.requested === 'cancel'
    ? relayCancel(context, tables, found)
    : setAside(context, tables, found)
}

/**
 * Stores the request to cancel or void. The submitter applies it if the capture
 * in flight fails.
 */
export async function keepRequested(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  asked: 'cancel' | 'void',
): Promise<CancellationVerdict> {
  const { requested: before } = found.order
  // If we send buyers' cancellations, we send this one after a void too: keep
  // `void`.
  const isVoided = before === 'void' && isRelaying(context)
  const requested = isVoided || before === 'cancel' ? before : asked
  if (before === requested && wasKept(found))
    return refuseCancel(found, 'captureInFlight')
  const { order, event } = withEvent(
    found.order,
    {
      type: 'cancellationAccepted',
      at: context.now(),
      data: { relayed: asked === 'cancel' },
    },
    { requested },
  )
  await tables.orders.update([order])
  await tables.events.append([event])
  return refuseCancel({ ...found, order }, 'captureInFlight')
}

/** True when the store had a cancellation before this one. */
function wasKept({ order, attempts }: StoredOrder): boolean {
  const known = attempts.find(({ number }) => number === order.attempt)
  return known?.cancellation !== undefined
}

/**
 * Makes the submitter send the cancellation. Once its transaction is stored,
 * the order becomes `canceling`.
 */
export async function relayCancel(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<CancellationVerdict> {
  const { order } = found
  if (order.state === 'canceling' || order.requested === 'cancel')
    return accept(found)
  const changed = withEvent(
    order,
    {
      type: 'cancellationAccepted',
      at: context.now(),
      data: { relayed: true },
    },
    { requested: 'cancel', sendDue: 0n, reason: undefined },
  )
  await tables.orders.update([changed.order])
  await tables.events.append([changed.event])
  return accept({ ...found, order: changed.order })
}

/** Voids the order. We do not send the cancellation, but the buyer may. */
async function setAside(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<CancellationVerdict> {
  const { order, attempt } = found
  if (order.state === 'voided' && wasKept(found)) return accept(found)
  const at = context.now()
  const changed = withEvent(order, {
    type: 'cancellationAccepted',
    at,
    data: { relayed: false },
  })
  const moved =
    order.state === 'voided'
      ? undefined
      : moveOrder(
          changed.order,
          'voided',
          { type: 'voided', at, data: {} },
          {
            requested: undefined,
            sendDue: undefined,
            lookDue: lastSecondOf(attempt),
          },
        )
  const last = moved ?? changed
  await writeChanges(tables, {
    ...noChanges(),
    orders: [last.order],
    events: moved ? [changed.event, moved.event] : [changed.event],
  })
  return accept({ ...found, order: last.order })
}

function accept(found: StoredOrder): CancellationVerdict {
  return { ok: true, order: showOrder(found) }
}

/** Cancellations of one payer in a day that we send without approval. */
const mostOfPayer = 3

/** Seconds after its draft in which an order counts toward `mostOfPayer`. */
const day = 86_400n

/** Most orders to read; no payer has so many waiting for a cancellation. */
const manyOrders = 200

/**
 * True when the policy sends the cancellation without approval. False once
 * three other orders of this payer, drafted within a day, are canceled or about
 * to be: each costs us gas, and a signature costs the payer nothing.
 */
async function mayRelay(
  context: OrdersContext,
  tables: StoreWriter,
  { order, attempt }: StoredOrder,
): Promise<boolean> {
  if (!isRelaying(context)) return false
  const payer = attempt.payer ?? order.payer
  if (payer === undefined) return true
  // Lock, so that cancellations that arrive at the same time count one by one.
  await tables.lock(`relay:${order.chainId}:${payer}`)
  const listed = context.destinations.filter(
    ({ chainId }) => chainId === order.chainId,
  )
  const read = (
    states: readonly StoredOrder['order']['state'][],
    limit: number,
  ): ReturnType<StoreReader['orders']['find']> =>
    tables.orders.find({ listed, payer, states, limit })
  const canceled = await read(['canceling', 'canceled'], mostOfPayer)
  const waiting = await read(['stored', 'capturing', 'voided'], manyOrders)
  const since = context.now() / 1000n - day
  const counted = [
    ...canceled,
    ...waiting.filter(({ requested }) => requested === 'cancel'),
  ].filter(({ id, createdAt }) => id !== order.id && createdAt > since)
  return counted.length < mostOfPayer
}
