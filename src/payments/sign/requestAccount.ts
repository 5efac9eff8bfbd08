import type { Address } from 'viem'
import { parseAddress } from '../../core/fields.js'
import { throwWalletError, type Wallet } from './signWithWallet.js'

/**
 * Returns the account of a wallet. A browser wallet (EIP-1193) may first ask
 * its user to connect.
 *
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails.
 * @throws {@link InvalidFieldError} when the wallet returns no account.
 */
export async function requestAccount(wallet: Wallet): Promise<Address> {
  const { account } = wallet
  if (account) return typeof account === 'string' ? account : account.address
  const asked = wallet.request(
    { method: 'eth_requestAccounts' },
    { retryCount: 0 },
  )
  const accounts = await asked.catch(throwWalletError)
  return parseAddress(Object(accounts)[0], 'account')
}
