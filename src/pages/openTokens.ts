import type { Address, Client } from 'viem'
import { UnsupportedTokenError } from '../chain/rpc/errors.js'
import { getPermitToken } from '../chain/state/getPermitToken.js'
import { getToken } from '../chain/state/getToken.js'
import { findKnownToken } from '../core/knownTokens.js'
import { inTime } from '../core/wait.js'
import type { OrdersContext } from '../orders/engine.js'
import type { PageToken } from './web/pageData.js'

/**
 * Milliseconds that pages wait for a node, counted from the first request to
 * it. Later pages do not wait.
 */
const patience = 2_000

/** Milliseconds after which a node that has not answered is asked again. */
const longestWait = 30_000

type Asked = {
  token: Promise<PageToken | undefined>
  /** `performance.now()` until which pages wait. */
  until: number
}

/**
 * Describes the tokens that the shop takes. Asks a node about a token that is
 * not well known, until it has answered once. A token whose node does not answer
 * in time is left out, so that payments in other tokens go on.
 */
export function openTokens({
  tokens,
}: Pick<OrdersContext, 'tokens'>): () => Promise<readonly PageToken[]> {
  const asked = new Map<number, Asked>()
  const ask = (at: number, token: Token): Asked => {
    const known = asked.get(at)
    if (known) return known
    const asking = inTime<PageToken | undefined>(
      describeToken(token),
      longestWait,
      () => undefined,
    )
    const found = asking.catch(() => undefined)
    const one = { token: found, until: performance.now() + patience }
    asked.set(at, one)
    void found.then((described) => {
      if (!described) asked.delete(at)
    })
    return one
  }
  return async () => {
    const all = tokens.map((token, at) => ask(at, token))
    const described = await Promise.all(
      all.map(({ token, until }) => {
        const left = Math.max(0, until - performance.now())
        return inTime(token, left, () => undefined)
      }),
    )
    return described.filter((token) => token !== undefined)
  }
}

type Token = OrdersContext['tokens'][number]

async function describeToken({
  client,
  chainId,
  token,
}: Token): Promise<PageToken> {
  const { symbol, decimals } =
    findKnownToken(chainId, token) ?? unitOf(await getUnit(client, token))
  const { name, blockExplorers } = client.chain ?? {}
  const explorer = blockExplorers?.default.url.replace(/\/+$/, '')
  return { chainId, chain: name, explorer, token, symbol, decimals }
}

/** Asks the token itself: for EIP-3009 first, then for permits only. */
async function getUnit(client: Client, token: Address): Promise<Unit> {
  try {
    return await getToken(client, { token })
  } catch (error) {
    if (!(error instanceof UnsupportedTokenError)) throw error
    return getPermitToken(client, token, token)
  }
}

type Unit = Pick<Awaited<ReturnType<typeof getToken>>, 'domain' | 'decimals'>

/** Shows the name of the token's domain as its symbol: a domain has no other. */
function unitOf({ domain, decimals }: Unit): {
  symbol: string
  decimals: number
} {
  return { symbol: domain.name, decimals }
}
