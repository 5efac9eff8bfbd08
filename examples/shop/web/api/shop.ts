import type { Address } from 'viem'
import { askJson } from './askShop.js'
import { type ShopTerms, terms } from './terms.js'

export type Product = {
  id: string
  name: string
  description: string
  /** A decimal in whole tokens; without shipping if there is a ceiling. */
  amount: string
  /** The ceiling, if the total is known only when the order ships. */
  atMost?: string | undefined
  capture: 'atOnce' | 'onShipping'
}

/** The terms that the page was built with, and what the server adds. */
export type ShopConfig = ShopTerms & {
  products: readonly Product[]
  /** The terms for which the server named another value. */
  contradicted: readonly (keyof ShopTerms)[]
}

/** A shorter window needs no new page. */
const compared = [
  'chainId',
  'token',
  'symbol',
  'decimals',
  'recipient',
] as const

let config: Promise<ShopConfig> | undefined

/** Asked once a visit; what failed is asked again. */
export function getConfig(): Promise<ShopConfig> {
  config ??= readConfig().catch((error: unknown) => {
    config = undefined
    throw error
  })
  return config
}

/** Of what the server says about the terms, nothing is used. */
async function readConfig(): Promise<ShopConfig> {
  const { products, ...named } = await askJson<
    ShopTerms & Pick<ShopConfig, 'products'>
  >('/shop/config')
  return {
    ...terms,
    products,
    contradicted: compared.filter((term) => named[term] !== terms[term]),
  }
}

type PlaceOrderParameters = {
  product: string
  /** Who signs. Needed for a ceiling. */
  payer?: Address | undefined
  signal: AbortSignal
}

/** An order that nobody waits for any more runs out by itself. */
export function placeOrder({
  product,
  payer,
  signal,
}: PlaceOrderParameters): Promise<{ orderId: string; buyerToken: string }> {
  return askJson('/shop/orders', {
    body: JSON.stringify({ product, payer }),
    signal,
  })
}

/** Asks the development chain for test money. */
export function visitFaucet(address: string): Promise<unknown> {
  return askJson('/shop/faucet', { body: JSON.stringify({ address }) })
}
