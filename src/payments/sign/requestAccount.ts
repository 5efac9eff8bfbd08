import type { Address } from 'viem'
import { parseAddress } from '../../core/fields.js'
import { askWallet, once, type Wallet } from './signWithWallet.js'

/**
 * Returns the account of a wallet. A browser wallet (EIP-1193) may first ask
 * its user to connect.
 *
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails.
 * @throws {@link InvalidFieldError} when the wallet returns no account.
 * @throws the reason of `signal` when that aborts.
 */
export async function requestAccount(
  wallet: Wallet,
  signal: AbortSignal | undefined,
): Promise<Address> {
  const { account } = wallet
  if (account) return typeof account === 'string' ? account : account.address
  const accounts = await askWallet(
    async () => wallet.request({ method: 'eth_requestAccounts' }, once),
    signal,
  )
  return parseAddress(Object(accounts)[0], 'account')
}
