import { checkMembers } from '../../core/checkMembers.js'
import type { StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { apply, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import { loadOrder } from '../model/loadOrders.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { VoidVerdict } from '../model/types.js'

/** Parameters of `void`: the order to give up. */
export type VoidOrderParameters = { orderId: string }

/** Implements `void` of `DestinationOrders`. */
export async function voidOrder(
  context: OrdersContext,
  parameters: VoidOrderParameters,
  options: { endsReview?: boolean } = {},
): Promise<VoidVerdict> {
  checkMembers(parameters, ['orderId'])
  const { orderId } = parameters
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    return writeVoid(context, tables, found, options)
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

/** Voids an order as part of the caller's database transaction. */
export async function writeVoid(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  options: { endsReview?: boolean } = {},
): Promise<VoidVerdict> {
  const rules = rulesOf(context)
  const input = { kind: 'void', ...options } as const
  const { refusal, ...changes } = apply(found, input, rules)
  const [changed = found.order] = await writeChanges(tables, changes, rules.at)
  const order = showOrder({ ...found, order: changed })
  return refusal
    ? {
        ok: false,
        reason: refusal === 'notOpen' ? refusal : 'captureInFlight',
        order,
      }
    : { ok: true, order, spendableUntil: order.spendableUntil }
}
