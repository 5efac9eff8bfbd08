import type { SubmitterView } from '../account/getSubmitterView.js'
import type { OrdersContext } from '../context/types.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { judgeSending } from './planSending.js'
import type { DueRefusal } from './refuseDue.js'

/**
 * Splits due orders into those to simulate and those that the stored facts
 * refuse.
 */
export function sortDue(
  storedOrders: readonly StoredOrder[],
  { head }: Pick<SubmitterView, 'head'>,
  policy: OrdersContext['policy'],
): { open: StoredOrder[]; refusals: DueRefusal[] } {
  const open: StoredOrder[] = []
  const refusals: DueRefusal[] = []
  for (const stored of storedOrders) {
    const judged = judgeSending(stored, head, policy)
    if (judged) refusals.push({ stored, ...judged })
    else open.push(stored)
  }
  return { open, refusals }
}
