import type { Account, Client, Hex } from 'viem'
import { WalletError } from '../../payments/sign/errors.js'
import { signWithWallet } from '../../payments/sign/signWithWallet.js'
import { type Grant, grantTypedData, isSignedGrant } from './grant.js'

/**
 * Has the treasury's account or wallet sign a delegation.
 *
 * @throws {@link SigningDeclinedError} {@link WrongWalletError}
 * {@link WalletError}
 */
export async function signGrant(
  { request }: Pick<Client, 'request'>,
  account: Account,
  grant: Grant,
  signal: AbortSignal | undefined,
): Promise<Hex> {
  const payload = grantTypedData(grant)
  const wallet = { account, request }
  const { treasury } = grant
  const signature = await signWithWallet(wallet, payload, treasury, signal)
  if (await isSignedGrant(grant, signature)) return signature
  throw new WalletError(undefined, 'another signature')
}
