import { UnknownNetwork, WrongNetwork } from './failures.js'
import type { PageToken } from './pageData.js'
import { type Connection, switchChain } from './wallets.js'

/** @throws {@link WrongNetwork} when the wallet is on another chain. */
export async function checkWalletChain(
  { wallet }: Connection,
  { chainId }: PageToken,
): Promise<void> {
  const found = Number(await wallet.provider.request({ method: 'eth_chainId' }))
  if (found !== chainId) throw new WrongNetwork()
}

/**
 * Asks the wallet to switch to the chain of the payment.
 *
 * @throws {@link UnknownNetwork} when the wallet does not know the chain.
 */
export async function switchNetwork(
  { wallet }: Connection,
  { chainId }: PageToken,
): Promise<void> {
  await switchChain(wallet, chainId).catch((error: unknown) => {
    const { code, data: inner } = Object(error)
    // Some wallets put the code of an unknown chain deeper.
    const inside = Object(Object(inner).originalError).code
    throw [code, inside].includes(4902) ? new UnknownNetwork() : error
  })
}
