import {
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  http,
  type PrivateKeyAccount,
} from 'viem'
import type { DevClients, DevNetwork, DevWalletClient } from './types.js'

/** Not one that any live network uses: a signature made for it stays local. */
export const devChainId = 31337

/** Describes the chain that listens on a port of this machine. */
export function describeDevChain(
  port: number,
  network: DevNetwork,
  path = '',
): Chain {
  const address = `127.0.0.1:${port}${path}`
  return defineChain({
    id: devChainId,
    name: `Development chain (${network})`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: {
      default: { http: [`http://${address}`], webSocket: [`ws://${address}`] },
    },
    testnet: true,
  })
}

/** Makes one client for each party, quick to notice a new block. */
export function createDevClients(
  chain: Chain,
  [payer, merchant, relayer]: readonly PrivateKeyAccount[],
): DevClients {
  // The node is on this machine: if it is late it is busy, not gone.
  const transport = http(undefined, { timeout: 120_000 })
  const options = { chain, transport, pollingInterval: 50 }
  const wallet = (account: PrivateKeyAccount | undefined): DevWalletClient => {
    if (!account) throw new Error('A development chain needs three accounts.')
    return createWalletClient({ ...options, account })
  }
  return {
    public: createPublicClient(options),
    payer: wallet(payer),
    merchant: wallet(merchant),
    relayer: wallet(relayer),
    test: createTestClient({ ...options, mode: 'anvil' }),
  }
}
