import { createContext, useContext } from 'react'
import type { Product, ShopConfig } from '../api/shop.js'

export const ShopContext = createContext<ShopConfig | undefined>(undefined)

export function useShop(): ShopConfig {
  const shop = useContext(ShopContext)
  if (!shop) throw new Error('The shop is not known yet')
  return shop
}

export function productOf(
  { products }: ShopConfig,
  metadata: Readonly<Record<string, unknown>>,
): Product | undefined {
  return products.find(({ id }) => id === metadata.product)
}

/** What was bought, in words. */
export function productName(
  shop: ShopConfig,
  metadata: Readonly<Record<string, unknown>>,
): string {
  return productOf(shop, metadata)?.name ?? 'Order'
}
