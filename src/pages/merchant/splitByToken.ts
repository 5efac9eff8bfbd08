import type { PageToken } from '../web/pageData.js'
import { orderToken, type PagesShop, type TokenPlace } from './shop.js'

/** An amount in units of a token. */
export type TokenAmount = { token: PageToken; value: bigint }

/**
 * Groups orders by their token, because amounts of different tokens have no
 * sum. Tokens come in the sequence in which the shop takes them.
 */
export function splitByToken<order extends TokenPlace>(
  orders: Iterable<order>,
  shop: Pick<PagesShop, 'tokens'>,
): readonly { token: PageToken; orders: readonly order[] }[] {
  const groups = new Map<string, { token: PageToken; orders: order[] }>()
  for (const order of orders) {
    const key = tokenKey(order)
    const known = groups.get(key)
    if (known) known.orders.push(order)
    else groups.set(key, { token: orderToken(shop, order), orders: [order] })
  }
  const placeOf = ({ token }: { token: PageToken }) => {
    const place = shop.tokens.indexOf(token)
    return place < 0 ? shop.tokens.length : place
  }
  return [...groups.values()].sort((a, b) => placeOf(a) - placeOf(b))
}

/** Tells the tokens of all chains apart. */
export function tokenKey({ chainId, token }: TokenPlace): string {
  return `${chainId} ${token.toLowerCase()}`
}
