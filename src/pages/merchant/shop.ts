import { type Context, createContext, useContext } from 'react'
import type { Address } from 'viem'
import { shortHex } from '../ui/format.js'
import type { PageToken } from '../web/pageData.js'
import type { MerchantData } from './merchantData.js'

/** The shop that these pages show. */
export type PagesShop = Omit<MerchantData, 'root'> & {
  /** Path of the first page, with a slash at its end. */
  root: string
}

export type TokenPlace = { chainId: number; token: Address }

/** Builds the shop from the server's data and the address of the page. */
export function toPagesShop(
  { root, ...data }: MerchantData,
  href: string,
): PagesShop {
  return { ...data, root: new URL(root, href).pathname }
}

export const ShopContext: Context<PagesShop | undefined> = createContext<
  PagesShop | undefined
>(undefined)

export function useShop(): PagesShop {
  const shop = useContext(ShopContext)
  if (!shop) throw new Error('The page has no data of the shop')
  return shop
}

/**
 * Returns the token of an order. If no node described the token, amounts are
 * shown in token units.
 */
export function orderToken(
  { tokens }: Pick<PagesShop, 'tokens'>,
  place: TokenPlace,
): PageToken {
  return (
    tokens.find((one) => isOfToken(one, place)) ?? {
      chainId: place.chainId,
      chain: undefined,
      explorer: undefined,
      token: place.token,
      symbol: `units of ${shortHex(place.token)}`,
      decimals: 0,
    }
  )
}

/** Names a token: with its chain, if the shop takes tokens of several. */
export function tokenName(
  { tokens }: Pick<PagesShop, 'tokens'>,
  { symbol, chain }: PageToken,
): string {
  const chains = new Set(tokens.map(({ chainId }) => chainId))
  return chains.size > 1 && chain ? `${symbol} on ${chain}` : symbol
}

export function useToken(place: TokenPlace): PageToken {
  return orderToken(useShop(), place)
}

/** True if both name the same token of the same chain. */
export function isOfToken(one: TokenPlace, other: TokenPlace): boolean {
  return (
    one.chainId === other.chainId &&
    one.token.toLowerCase() === other.token.toLowerCase()
  )
}

/** Returns the description from the order's metadata, or `Order`. */
export function orderTitle({
  metadata,
}: {
  metadata: Readonly<Record<string, unknown>>
}): string {
  const { description } = metadata
  return typeof description === 'string' && description ? description : 'Order'
}

/**
 * Returns the address of a transaction in the chain's explorer, if there is
 * one.
 */
export function transactionUrl(
  { explorer }: PageToken,
  hash: string,
): string | undefined {
  return explorer && `${explorer}/tx/${hash}`
}

/** Returns the path of a subscription's page. */
export function subscriptionPath({ root }: PagesShop, id: string): string {
  return `${root}subscriptions/${encodeURIComponent(id)}`
}

/** Returns the path of an order's page. */
export function orderPath({ root }: PagesShop, orderId: string): string {
  return `${root}orders/${encodeURIComponent(orderId)}`
}
