import { createReadClient } from 'countersign/reads'
import { createClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { AccountClient, Setting, Stage } from './types.js'

/** The clients of the parties, made of what a runtime was told. */
export function openStage(setting: Setting): Stage {
  const { chainId, http: url, keys } = setting
  const chain = defineChain({
    id: chainId,
    name: 'Development',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const clientOf = (key: keyof Setting['keys']): AccountClient =>
    createClient({
      account: privateKeyToAccount(keys[key]),
      chain,
      transport: http(url),
    })
  return {
    ...setting,
    reader: createReadClient({ url, chain }),
    payer: clientOf('payer'),
    merchant: clientOf('merchant'),
    seller: clientOf('seller'),
  }
}
