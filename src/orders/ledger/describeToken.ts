import { getToken } from '../../chain/state/getToken.js'
import { knownTokens } from '../../core/knownTokens.js'
import type { Destination } from '../../store/types.js'
import { clientOf, readerOf } from '../evidence/clientOf.js'
import type { OrdersContext } from '../model/types.js'
import type { LedgerRow } from './types.js'

/** Symbol and decimals of amounts. */
export type Unit = Pick<LedgerRow, 'symbol' | 'decimals'>

/**
 * Symbol and decimals of a destination's token. Asks a node only if there is no
 * order and the token is not a known one.
 */
export async function describeToken(
  context: OrdersContext,
  destination: Destination,
): Promise<Unit> {
  const { chainId, token } = destination
  const known = knownTokens.find(
    (one) => one.chainId === chainId && one.address === token,
  )
  const symbol = known?.symbol ?? token
  const [order] = await context.store.read(({ orders }) =>
    orders.find({ oldest: destination, limit: 1 }),
  )
  const decimals = order?.decimals ?? known?.decimals
  if (decimals !== undefined) return { symbol, decimals }
  const found = await getToken(clientOf(context, destination), { token })
  return { symbol, decimals: found.decimals }
}

/** Symbol and decimals of the coin in which a chain takes gas. */
export function describeCoin(context: OrdersContext, chainId: number): Unit {
  const coin = readerOf(context, chainId).chain?.nativeCurrency
  return { symbol: coin?.symbol ?? 'ETH', decimals: coin?.decimals ?? 18 }
}
