import type { Hex } from 'viem'
import { developmentChainId } from '../api/chain.js'
import { askUser } from './askUser.js'
import type { OpenWallet } from './openDevelopmentWallet.js'
import { readSigningRequest } from './readSigningRequest.js'
import { WalletFault } from './WalletFault.js'
import { accountOf } from './walletMemory.js'

/**
 * Signs typed data once its user agreed to what it means.
 *
 * @throws {@link WalletFault} when it has no words for it, or the user says no.
 */
export async function signInWords(
  { memory, change, accounts }: OpenWallet,
  [signer, text]: readonly unknown[],
): Promise<Hex> {
  const typedData = typeof text === 'string' ? JSON.parse(text) : text
  const request = await readSigningRequest(typedData)
  const isOwn = [signer, request.from].every((address) =>
    accounts().includes(String(address).toLowerCase()),
  )
  if (!isOwn) throw new WalletFault(4100, 'This account is not connected.')
  if (memory.chainId !== developmentChainId)
    throw new WalletFault(4901, 'The wallet is on another chain.')
  const account = accountOf(memory, memory.selected)
  await askUser({ ask: 'sign', request })
  const signature = await account.signTypedData(typedData)
  if (request.kind === 'payment') {
    const { to, amount, symbol, until, nonce, isCeiling } = request
    const record = { to, amount, symbol, until, isCeiling }
    change({ signed: { ...memory.signed, [nonce]: record } })
  }
  return signature
}
