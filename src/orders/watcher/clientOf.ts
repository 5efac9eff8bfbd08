import type { Client } from 'viem'
import type { Scope } from '../../store/types.js'
import { OrdersSetupError } from '../model/errors.js'
import type { OrdersContext } from '../model/types.js'

/** The client that reads the chain and token of a scope. */
export function clientOf(
  { tokens }: Pick<OrdersContext, 'tokens'>,
  { chainId, token }: Scope,
): Client {
  const found = tokens.find(
    (one) => one.chainId === chainId && one.token === token,
  )
  if (found) return found.client
  throw new OrdersSetupError('have no client for a token', { chainId, token })
}
