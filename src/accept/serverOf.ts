import type { Client } from 'viem'
import { OrdersSetupError } from '../records/errors.js'
import type { OrdersContext, OrderWallet } from '../records/types.js'
import type { OrderRecord } from '../store/types.js'

/**
 * Who is asked about an order, and who sends for it.
 *
 * @throws {@link OrdersSetupError} when the order was drafted for a wallet this
 * instance does not have.
 */
export function serverOf(
  { tokens, wallets }: OrdersContext,
  { id, chainId, token, lane: account }: OrderRecord,
): { client: Client; wallet: OrderWallet } {
  const known = tokens.find(
    (one) => one.chainId === chainId && one.token === token,
  )
  const wallet = wallets.find(
    ({ lane }) => lane.chainId === chainId && lane.account === account,
  )
  if (known && wallet) return { client: known.client, wallet }
  throw new OrdersSetupError(`have no wallet ${account} on chain ${chainId}`, {
    orderId: id,
  })
}
