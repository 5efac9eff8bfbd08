import type { Account, Client } from 'viem'
import type { Keccak256 } from '../../core/keccak.js'
import type { DecidedFees } from './planTransaction.js'
import { type SignedTransaction, signTransaction } from './signTransaction.js'

export type SignReleaseParameters = {
  /** The account nonce to give up. */
  nonce: number
  chainId: number
  fees: DecidedFees
  /**
   * Gas limit: more for an account with code of its own (EIP-7702), and where
   * the data's way to another chain is paid in gas. @default 21_000n
   */
  gas?: bigint | undefined
}

/**
 * Signs a transfer of nothing to oneself, which uses an account nonce up so that
 * later ones can go ahead. Asks no node, sends nothing.
 *
 * Another transaction of the nonce can still win.
 *
 * @throws {@link AccountError} when the account cannot sign here.
 * @throws {@link SendError} when the signer fails.
 * @throws {@link SigningDeclinedError} when the signer declines.
 */
export function signFiller(
  client: Client,
  account: Account,
  { nonce, chainId, fees, gas = 21_000n }: SignReleaseParameters,
  keccak256?: Keccak256,
): Promise<SignedTransaction> {
  const to = account.address
  const transaction = { to, data: '0x', chainId, nonce, gas, ...fees } as const
  return signTransaction(client, account, transaction, keccak256)
}
