import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  http,
} from 'viem'
import { setCode } from 'viem/actions'
import { mintTokens } from '../../../src/devchain/controlToken.js'
import { devAccounts, devMnemonic } from '../../../src/devchain/devAccounts.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import { devToken } from '../../../src/devchain/devToken.js'
import { findAnvil } from '../../../src/devchain/findAnvil.js'
import { initializeToken } from '../../../src/devchain/initializeToken.js'
import { launchAnvil } from '../../../src/devchain/launchAnvil.js'
import type { DevChain, DevClients } from '../../../src/devchain/types.js'

/** Base as a development chain must not be: under Base's own chain id. */
export async function startLiveChain(
  contract: { deployedBytecode: `0x${string}` } = devContracts.fiatTokenV2_2,
): Promise<
  Pick<DevChain, 'urls' | 'chain' | 'token' | 'clients' | 'mint' | 'stop'>
> {
  const known = devToken('base')
  const accounts = devAccounts(10)
  const anvil = await launchAnvil({
    binary: await findAnvil(),
    accounts: accounts.length,
    mnemonic: devMnemonic,
    chainId: known.chainId,
  })
  const url = `http://127.0.0.1:${anvil.port}`
  const chain = defineChain({
    id: known.chainId,
    name: 'Base, locally',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const options = { chain, transport: http(), pollingInterval: 50 }
  const [payer, merchant, relayer] = accounts.map((account) =>
    createWalletClient({ ...options, account }),
  )
  if (!payer || !merchant || !relayer) throw new Error('three accounts')
  const clients: DevClients = {
    public: createPublicClient(options),
    test: createTestClient({ ...options, mode: 'anvil' }),
    payer,
    merchant,
    relayer,
  }
  const token = known.address
  await setCode(clients.test, {
    address: token,
    bytecode: contract.deployedBytecode,
  })
  await initializeToken(clients, { ...known, token })
  const mint: DevChain['mint'] = ({ to, value }) =>
    mintTokens(clients, { token, to, value })
  await mint({ to: payer.account.address, value: 10_000_000_000n })
  const urls = { http: url, webSocket: url.replace('http', 'ws') }
  return { urls, chain, token, clients, mint, stop: anvil.stop }
}
