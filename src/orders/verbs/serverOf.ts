import type { Client } from 'viem'
import type { OrderRecord } from '../../store/types.js'
import { OrdersSetupError } from '../model/errors.js'
import { senderOf } from '../model/sendersOf.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'

/**
 * The client to ask about an order, and the wallet that sends for it. If the
 * wallet the order was drafted for was removed, this is another wallet that may
 * send it, where there is one.
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
