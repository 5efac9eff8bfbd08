import type { Address, Client } from 'viem'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from './clientOf.js'

/** The shop's destinations on one chain that are read with the same client. */
export type ClientGroup = {
  chainId: number
  /**
   * The tokens configured for this client. `destinations` may have others too.
   */
  tokens: readonly [Address, ...Address[]]
  /**
   * Returns the destinations that the shop has now. They can change while it
   * runs.
   */
  destinations(): readonly Destination[]
}

/**
 * Groups the shop's destinations by chain and client. Most chains have a single
 * client. If a chain has two, each is read separately, so that a node that
 * hangs delays only the tokens of its own client.
 */
export function groupByClient(context: OrdersContext): ClientGroup[] {
  const clients = new Map<
    Client,
    Pick<ClientGroup, 'chainId'> & { tokens: [Address, ...Address[]] }
  >()
  for (const { client, chainId, token } of context.tokens) {
    const known = clients.get(client)
    if (known) known.tokens.push(token)
    else clients.set(client, { chainId, tokens: [token] })
  }
  return [...clients].map(([client, group]) => {
    let from: readonly Destination[] | undefined
    let own: readonly Destination[] = []
    const destinations = () => {
      if (from !== context.destinations) {
        from = context.destinations
        own = Object.freeze(
          from.filter(
            (one) =>
              one.chainId === group.chainId &&
              clientOf(context, one) === client,
          ),
        )
      }
      return own
    }
    return { ...group, destinations }
  })
}
