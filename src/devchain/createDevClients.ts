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

/** No live network uses this id, so signatures made for it stay local. */
export const devChainId = 31337

/** Describes the chain at a port of this machine. */
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

/** Creates one client for each party, with a short polling interval. */
export function createDevClients(
  chain: Chain,
  [payer, merchant, relayer]: readonly PrivateKeyAccount[],
): DevClients {
  // A long timeout: a slow node on this machine is only busy.
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
