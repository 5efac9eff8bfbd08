import {
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  type HttpTransport,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { waitUntilMined } from './sequencer/closePool.js'
import type { AnswerRpc } from './sequencer/devRpc.js'
import type { DevClients, DevNetwork, DevWalletClient } from './types.js'

/**
 * Chain id of every development chain. No live network has it, so signatures
 * made here are worthless elsewhere.
 */
export const devChainId = 31337

/** Describes the chain that is served at a port of this machine. */
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

/**
 * Creates one client for each party. Clients poll every 50 ms. With
 * `minesAtOnce`, sending a transaction resolves with its hash only after its
 * block is mined.
 */
export function createDevClients({
  chain,
  accounts: [payer, merchant, relayer],
  minesAtOnce,
}: {
  chain: Chain
  accounts: readonly PrivateKeyAccount[]
  minesAtOnce: boolean
}): DevClients {
  // The timeout (in milliseconds) is long: if the local node answers slowly,
  // this machine is busy, and the node still runs.
  const plain = http(undefined, { timeout: 120_000 })
  const transport = minesAtOnce ? waitingTransport(plain) : plain
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

function waitingTransport(plain: HttpTransport): HttpTransport {
  return (options) => {
    const transport = plain(options)
    const ask: AnswerRpc = (method, params) =>
      transport.request({ method, params })
    const request = async (
      ...[call, asked]: Parameters<typeof transport.request>
    ): Promise<unknown> => {
      const result = await transport.request(call, asked)
      await waitUntilMined(call.method, ask)
      return result
    }
    return { ...transport, request: request as typeof transport.request }
  }
}
