import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import type { StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { moveOrder, noChanges, writeChanges } from '../model/changes.js'
import { lastSecondOf } from '../model/endsOf.js'
import { loadOrder } from '../model/loadOrders.js'
import type { OrderEventData } from '../model/orderEvents.js'
import { holdsPermission } from '../model/scheduled.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext, VoidVerdict } from '../model/types.js'
import { isGivenUp, isRelaying } from '../submitter/rejectOrder.js'

/** Parameters of `void`: the order to give up. */
export type VoidOrderParameters = { orderId: string }

const members: MembersOf<VoidOrderParameters> = {
  orderId: true,
}

/** Implements `void` of `DestinationOrders`. */
export async function voidOrder(
  context: OrdersContext,
  parameters: VoidOrderParameters,
): Promise<VoidVerdict> {
  checkMembers(parameters, members)
  const { orderId } = parameters
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    // A subscription ends by `subscriptions.cancel`, not by `void`.
    if (holdsPermission(found.order)) return notOpen(found)
    switch (found.order.state) {
      case 'drafted':
      case 'stored':
      case 'canceling':
        return writeVoid(context, tables, found)
      case 'capturing':
        return keepRequested(context, tables, found)
      case 'voided':
        return accepted(found)
      default:
        return notOpen(found)
    }
  })
}

/**
 * Voids an order that is not in flight, as part of the caller's database
 * transaction.
 */
export async function writeVoid(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<VoidVerdict> {
  const { order, attempt } = found
  // If the buyer's cancellation is about to be sent, it is sent despite the
  // void.
  const isCanceled = order.state === 'canceling' || order.requested === 'cancel'
  const moved = moveOrder(
    order,
    'voided',
    { type: 'voided', at: context.now(), data: dataOf(attempt) },
    {
      requested: isCanceled ? 'cancel' : undefined,
      sendDue: isCanceled ? order.sendDue : undefined,
      needsReview: false,
      // The buyer may have signed the offer without sending it to us, so keep
      // checking until its window ends.
      lookDue: lastSecondOf(attempt),
    },
  )
  const [voided = moved.order] = await writeChanges(tables, {
    ...noChanges(),
    orders: [moved.order],
    events: [moved.event],
  })
  return accepted({ ...found, order: voided })
}

function dataOf({
  spendable,
  spendableUntil,
}: StoredOrder['attempt']): OrderEventData['voided'] {
  return spendable && spendableUntil !== undefined
    ? { spendableUntil: String(spendableUntil) }
    : {}
}

/**
 * Stores the request to void. If the capture in flight fails, the submitter
 * voids the order.
 */
async function keepRequested(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<VoidVerdict> {
  // Keep an approved cancellation: it voids the order as well, and is also
  // sent.
  const isKept = isGivenUp(found.order, isRelaying(context))
  const requested = isKept ? found.order.requested : ('void' as const)
  const order = { ...found.order, requested }
  await tables.orders.update([order])
  return {
    ok: false,
    reason: 'captureInFlight',
    order: showOrder({ ...found, order }),
  }
}

function accepted(found: StoredOrder): VoidVerdict {
  const order = showOrder(found)
  return { ok: true, order, spendableUntil: order.spendableUntil }
}

function notOpen(found: StoredOrder): VoidVerdict {
  return { ok: false, reason: 'notOpen', order: showOrder(found) }
}
