import { checkMembers } from '../../core/checkMembers.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { loadOrder } from '../model/loadOrders.js'
import { refuseCancellation } from '../model/refusals.js'
import type { CancellationVerdict } from '../model/types.js'
import { carryOut, refuseCancel } from './writeCancel.js'

/** Parameters of `approveCancellation`: the order to cancel. */
export type ApproveCancellationParameters = { orderId: string }

/** Implements `approveCancellation` of `DestinationOrders`. */
export async function approveCancellation(
  context: OrdersContext,
  parameters: ApproveCancellationParameters,
): Promise<CancellationVerdict> {
  checkMembers(parameters, ['orderId'])
  const { orderId } = parameters
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    const refused = refuseCancellation(found)
    if (refused) return refuseCancel(found, refused)
    if (found.attempt.cancellation === undefined)
      return refuseCancel(found, 'notOpen')
    return carryOut(context, tables, found, { isRelayed: true })
  })
}
