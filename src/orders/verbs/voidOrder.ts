import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import type { OrderState, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { writeChanges } from '../model/changes.js'
import { planVoid } from '../model/commands.js'
import { loadOrder } from '../model/loadOrders.js'
import { isRelaying } from '../model/rejectOrder.js'
import { holdsPermission } from '../model/scheduled.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext, VoidVerdict } from '../model/types.js'

/** Parameters of `void`: the order to give up. */
export type VoidOrderParameters = { orderId: string }

const members: MembersOf<VoidOrderParameters> = {
  orderId: true,
}

/** Implements `void` of `DestinationOrders`. */
export async function voidOrder(
  context: OrdersContext,
  parameters: VoidOrderParameters,
  options: { endsReview?: boolean } = {},
): Promise<VoidVerdict> {
  checkMembers(parameters, members)
  const { orderId } = parameters
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    // A subscription ends by `subscriptions.cancel`, not by `void`.
    if (holdsPermission(found.order)) return notOpen(found)
    const isOpen = voidable.includes(found.order.state)
    return isOpen ? writeVoid(context, tables, found, options) : notOpen(found)
  })
}

/**
 * Gives an order up where the merchant did not ask for it: the review of the
 * payer does not end.
 */
export function abandonOrder(
  context: OrdersContext,
  orderId: string,
): Promise<VoidVerdict> {
  return voidOrder(context, { orderId }, { endsReview: false })
}

/** The states in which `void` changes something, or has done so. */
const voidable: readonly OrderState[] = [
  'drafted',
  'stored',
  'capturing',
  'canceling',
  'voided',
]

/** Voids an order as part of the caller's database transaction. */
export async function writeVoid(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  options: { endsReview?: boolean } = {},
): Promise<VoidVerdict> {
  const at = context.now()
  const rules = { ...options, at, relays: isRelaying(context) }
  const changes = planVoid(found, rules)
  const [changed = found.order] = await writeChanges(tables, changes, rules.at)
  const order = showOrder({ ...found, order: changed })
  return found.order.state === 'capturing'
    ? { ok: false, reason: 'captureInFlight', order }
    : { ok: true, order, spendableUntil: order.spendableUntil }
}

function notOpen(found: StoredOrder): VoidVerdict {
  return { ok: false, reason: 'notOpen', order: showOrder(found) }
}
