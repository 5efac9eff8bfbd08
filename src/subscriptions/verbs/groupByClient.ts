import type { Address, Client } from 'viem'
import { clientOf, type OrdersContext } from '../../orders/engine.js'
import type { Destination } from '../../store/types.js'

/** The destinations of a chain that are read with one client. */
export type ClientGroup = {
  chainId: number
  /** The tokens of this client. Its destinations may have others, too. */
  tokens: readonly [Address, ...Address[]]
  /** The destinations that the shop has now. */
  destinations(): readonly Destination[]
}

/**
 * Groups the destinations of all chains by client. Most chains have a single
 * client. A second one is read by itself, so that a node that hangs delays only
 * its own tokens.
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
