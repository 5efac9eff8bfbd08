import { getToken } from '../chain/state/getToken.js'
import { findKnownToken } from '../core/knownTokens.js'
import { clientOf, type OrdersContext } from '../orders/engine.js'
import type { Destination } from '../store/types.js'
import type { PageToken } from './web/pageData.js'

/**
 * Describes the tokens that the shop takes. Asks a node about a token that is
 * not well known.
 */
export async function describeTokens(
  context: OrdersContext,
): Promise<readonly PageToken[]> {
  const { destinations } = context
  const first = destinations.filter(
    ({ chainId, token }, at) =>
      at ===
      destinations.findIndex(
        (other) => other.chainId === chainId && other.token === token,
      ),
  )
  return Promise.all(first.map((one) => describe(context, one)))
}

async function describe(
  context: OrdersContext,
  destination: Destination,
): Promise<PageToken> {
  const { chainId, token } = destination
  const client = clientOf(context, destination)
  const known = findKnownToken(chainId, token)
  const { symbol, decimals } =
    known ?? unitOf(await getToken(client, { token }))
  const { name, blockExplorers } = client.chain ?? {}
  const explorer = blockExplorers?.default.url.replace(/\/+$/, '')
  return { chainId, chain: name, explorer, token, symbol, decimals }
}

/** A token says its name in its domain, and its symbol nowhere there. */
function unitOf({ domain, decimals }: Awaited<ReturnType<typeof getToken>>): {
  symbol: string
  decimals: number
} {
  return { symbol: domain.name, decimals }
}
