import { type Context, createContext, useContext } from 'react'
import type { Address } from 'viem'
import { shortHex } from '../ui/format.js'
import type { PageToken } from '../web/pageData.js'
import type { MerchantData } from './merchantData.js'

/** The shop that these pages are of. */
export type PagesShop = Omit<MerchantData, 'root'> & {
  /** Path of the first page, with a slash at its end. */
  root: string
}

type TokenPlace = { chainId: number; token: Address }

/** Takes what the server told the page that was opened at this address. */
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

/** The token that sums are of: a shop can take several. */
export const SumsContext: Context<PageToken | undefined> = createContext<
  PageToken | undefined
>(undefined)

export function useSumsToken(): PageToken {
  const { tokens } = useShop()
  const token = useContext(SumsContext) ?? tokens[0]
  if (!token) throw new Error('The shop takes no token')
  return token
}

/**
 * The token of an order. If no node described it, amounts in token units are
 * shown as they are.
 */
export function orderToken(
  { tokens }: PagesShop,
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

/** What was bought, if the order says so in its metadata. */
export function orderTitle({
  metadata,
}: {
  metadata: Readonly<Record<string, unknown>>
}): string {
  const { description } = metadata
  return typeof description === 'string' && description ? description : 'Order'
}

/** The page of a transaction in its chain's explorer, if there is one. */
export function transactionUrl(
  { explorer }: PageToken,
  hash: string,
): string | undefined {
  return explorer && `${explorer}/tx/${hash}`
}

/** The page of an order. */
export function orderPath({ root }: PagesShop, orderId: string): string {
  return `${root}orders/${encodeURIComponent(orderId)}`
}
