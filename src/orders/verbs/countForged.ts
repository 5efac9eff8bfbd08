import { writeAgain } from '../../store/writeAgain.js'
import { loadOrder } from '../model/loadOrders.js'
import type { OrdersContext } from '../model/types.js'
import { mostTries } from './checkAccept.js'
import type { CancelRefusal } from './writeCancel.js'

/** Refusals that are not the signer's fault. */
const blameless: readonly string[] = ['consumed', 'expired', 'paused']

/**
 * Judges a cancellation, and counts a refusal as a try of the order. Takes the
 * try before it asks the node and gives it back if the cancellation is good, so
 * that parallel requests cannot exceed the limit.
 */
export async function countForged(
  context: OrdersContext,
  orderId: string,
  judge: () => Promise<CancelRefusal | undefined>,
): Promise<CancelRefusal | undefined> {
  if (!(await takeTry(context, orderId))) return 'tooManyTries'
  let isForged = false
  try {
    const refused = await judge()
    isForged = refused !== undefined && !blameless.includes(refused)
    return refused
  } finally {
    if (!isForged) await giveBack(context, orderId)
  }
}

function takeTry(context: OrdersContext, orderId: string): Promise<boolean> {
  return writeAgain(context, async (tables) => {
    const { order } = await loadOrder(tables, context, orderId)
    if (order.tries >= mostTries) return false
    await tables.orders.update([{ ...order, tries: order.tries + 1 }])
    return true
  })
}

async function giveBack(
  context: OrdersContext,
  orderId: string,
): Promise<void> {
  await writeAgain(context, async (tables) => {
    const { order } = await loadOrder(tables, context, orderId)
    const tries = Math.max(0, order.tries - 1)
    await tables.orders.update([{ ...order, tries }])
  })
}
