import { createContext, useContext } from 'react'
import type { ShopConfig } from '../api/shop.js'

export const ShopContext = createContext<ShopConfig | undefined>(undefined)

export function useShop(): ShopConfig {
  const shop = useContext(ShopContext)
  if (!shop) throw new Error('The shop is not known yet')
  return shop
}

/** What was bought, in words. */
export function productName(
  { products }: ShopConfig,
  metadata: Readonly<Record<string, unknown>>,
): string {
  const known = products.find(({ id }) => id === metadata.product)
  return known?.name ?? 'Order'
}
