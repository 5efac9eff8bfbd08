import { getToken } from '../../chain/state/getToken.js'
import { knownTokens } from '../../core/knownTokens.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf, readerOf } from '../evidence/clientOf.js'
import type { LedgerRow } from './types.js'

/** The currency of a row's amounts: its symbol and decimals. */
export type Unit = Pick<LedgerRow, 'symbol' | 'decimals'>

/**
 * Returns symbol and decimals of a destination's token. Asks a node only if the
 * store has no order of it and the token is not a well-known one.
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

/** Returns symbol and decimals of the coin that pays for gas on a chain. */
export function describeCoin(context: OrdersContext, chainId: number): Unit {
  const coin = readerOf(context, chainId).chain?.nativeCurrency
  return { symbol: coin?.symbol ?? 'ETH', decimals: coin?.decimals ?? 18 }
}
