import { createContext, useContext } from 'react'

/** What the page has to know about its shop. */
export type ShopConfig = {
  chainId: number
  token: string
  symbol: string
  decimals: number
  recipient: string
  products: readonly { id: string; name: string }[]
}

export const ShopContext = createContext<ShopConfig | undefined>(undefined)

export function useShop(): ShopConfig {
  const shop = useContext(ShopContext)
  if (!shop) throw new Error('The shop is not known yet')
  return shop
}

export async function readShop(): Promise<ShopConfig> {
  const response = await fetch('/shop/config')
  if (!response.ok) throw new Error(`The shop answered ${response.status}`)
  return response.json()
}

/** What was bought, in words. */
export function productName(
  { products }: ShopConfig,
  metadata: Readonly<Record<string, unknown>>,
): string {
  const known = products.find(({ id }) => id === metadata.product)
  return known?.name ?? 'Order'
}
