import { getToken } from '../chain/state/getToken.js'
import { findKnownToken } from '../core/knownTokens.js'
import type { OrdersContext } from '../orders/engine.js'
import type { PageToken } from './web/pageData.js'

/**
 * Describes the tokens that the shop takes. Asks a node about a token that is
 * not well known.
 */
export function describeTokens({
  tokens,
}: OrdersContext): Promise<readonly PageToken[]> {
  return Promise.all(
    tokens.map(async ({ client, chainId, token }) => {
      const { symbol, decimals } =
        findKnownToken(chainId, token) ??
        unitOf(await getToken(client, { token }))
      const { name, blockExplorers } = client.chain ?? {}
      const explorer = blockExplorers?.default.url.replace(/\/+$/, '')
      return { chainId, chain: name, explorer, token, symbol, decimals }
    }),
  )
}

/** A token says its name in its domain, and its symbol nowhere there. */
function unitOf({ domain, decimals }: Awaited<ReturnType<typeof getToken>>): {
  symbol: string
  decimals: number
} {
  return { symbol: domain.name, decimals }
}
