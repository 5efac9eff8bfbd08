import { createClient, custom, defineChain } from 'viem'
import { Eip1559FeesNotSupportedError as OtherError } from 'viem-oldest'
import { expect, test } from 'vitest'
import { planTransaction } from './planTransaction.js'

const address = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'

const answers: Record<string, unknown> = {
  eth_gasPrice: '0x7',
  eth_getBlockByNumber: { number: '0x1', transactions: [] },
  eth_getTransactionCount: '0x5',
}

test('a legacy fee is paid where another copy of viem finds no base fee', async () => {
  const client = createClient({
    chain: defineChain({
      id: 1,
      name: 'without base fee',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [] } },
      fees: {
        estimateFeesPerGas: () => Promise.reject(new OtherError()),
      },
    }),
    transport: custom({
      request: async ({ method }) => answers[method],
    }),
  })
  const planned = await planTransaction(client, {
    call: { to: address, data: '0x' },
    chainId: 1,
    account: { address, type: 'json-rpc' },
    gas: 100_000n,
    options: {},
  })
  expect(planned).toMatchObject({ type: 'legacy', gasPrice: 7n, nonce: 5 })
})
