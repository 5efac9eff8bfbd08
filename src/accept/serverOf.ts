import type { Client } from 'viem'
import { OrdersSetupError } from '../records/errors.js'
import { senderOf } from '../records/sendersOf.js'
import type { OrdersContext, OrderWallet } from '../records/types.js'
import type { OrderRecord } from '../store/types.js'

/**
 * Who is asked about an order, and who sends for it: another wallet than the
 * one it was drafted for where that is removed and another may send it.
 *
 * @throws {@link OrdersSetupError} when this instance does not have its token.
 */
export function serverOf(
  context: OrdersContext,
  order: OrderRecord,
): { client: Client; wallet: OrderWallet | undefined } {
  const { id, chainId, token } = order
  const known = context.tokens.find(
    (one) => one.chainId === chainId && one.token === token,
  )
  if (known) return { client: known.client, wallet: senderOf(context, order) }
  throw new OrdersSetupError(`have no token ${token} on chain ${chainId}`, {
    orderId: id,
  })
}
