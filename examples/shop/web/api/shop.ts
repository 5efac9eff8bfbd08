import type { Address } from 'viem'
import { askJson } from './askShop.js'

export type Product = {
  id: string
  name: string
  description: string
  /** A decimal in whole tokens. */
  amount: string
  capture: 'atOnce' | 'onShipping'
}

/** What the shop takes, as its page is told. */
export type ShopConfig = {
  chainId: number
  token: Address
  symbol: string
  decimals: number
  recipient: Address
  /** Seconds. */
  window: string
  products: readonly Product[]
}

let config: Promise<ShopConfig> | undefined

/** Asked once a visit; what failed is asked again. */
export function getConfig(): Promise<ShopConfig> {
  config ??= askJson<ShopConfig>('/shop/config').catch((error: unknown) => {
    config = undefined
    throw error
  })
  return config
}

/** An order that nobody waits for any more runs out by itself. */
export function placeOrder(
  product: string,
  signal: AbortSignal,
): Promise<{ orderId: string; buyerToken: string }> {
  return askJson('/shop/orders', { body: JSON.stringify({ product }), signal })
}

/** Asks the development chain for test money. */
export function visitFaucet(address: string): Promise<unknown> {
  return askJson('/shop/faucet', { body: JSON.stringify({ address }) })
}
