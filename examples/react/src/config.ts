import { createConfig, http } from 'wagmi'
import { anvil } from 'wagmi/chains'

/** Finds the wallets of the browser by itself (EIP-6963). */
export const config = createConfig({
  chains: [anvil],
  transports: { [anvil.id]: http() },
})
