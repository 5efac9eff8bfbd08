import type { Client } from 'viem'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { OrdersSetupError } from '../model/errors.js'

/**
 * Returns the client for a token. A shop can have tokens that only other
 * instances accept; for those, returns any client of the chain.
 */
export function clientOf(
  { tokens }: Pick<OrdersContext, 'tokens'>,
  { chainId, token }: Pick<Destination, 'chainId' | 'token'>,
): Client {
  const here = tokens.filter((one) => one.chainId === chainId)
  const found = here.find((one) => one.token === token) ?? here[0]
  if (found) return found.client
  throw new OrdersSetupError(
    `have no client for chain ${chainId}: add a token of that chain to tokens`,
    { chainId, token },
  )
}

/** Returns the client of the first configured token on a chain. */
export function readerOf(
  { tokens }: Pick<OrdersContext, 'tokens'>,
  chainId: number,
): Client {
  const token = tokens.find((one) => one.chainId === chainId)
  if (!token)
    throw new OrdersSetupError(
      `have no client for chain ${chainId}: add a token of that chain to tokens`,
      { chainId },
    )
  return token.client
}
