import type { DevChain } from 'countersign/devchain'
import type { ShopTerms } from '../web/api/terms.js'

type ShopTermsParameters = {
  chain: Pick<DevChain, 'chain' | 'token' | 'clients'>
  /** Seconds a buyer has to sign, and the shop to capture. @default 900n */
  window?: bigint | undefined
}

/** The shop's own configuration: its page is built with it. */
export function shopTerms({
  chain,
  window = 900n,
}: ShopTermsParameters): ShopTerms {
  const { address } = chain.clients.merchant.account
  return {
    chainId: chain.chain.id,
    token: chain.token,
    symbol: 'USDC',
    decimals: 6,
    recipient: `0x${address.slice(2).toLowerCase()}`,
    window: String(window),
  }
}
