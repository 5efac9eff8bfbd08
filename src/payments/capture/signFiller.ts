import type { Account, Client } from 'viem'
import type { Keccak256 } from '../../core/keccak.js'
import type { DecidedFees } from './planTransaction.js'
import { type SignedTransaction, signTransaction } from './signTransaction.js'

export type SignReleaseParameters = {
  /** The account nonce to use up. */
  nonce: number
  chainId: number
  fees: DecidedFees
  /**
   * Gas limit. Raise it for an account with code (EIP-7702), and on rollups
   * that charge the data fee in gas.
   * @default 21_000n
   */
  gas?: bigint | undefined
}

/**
 * Signs an empty transfer from an account to itself. When it is in a block, its
 * account nonce is used up, and later transactions of the account are no longer
 * blocked by a gap. Sends nothing.
 *
 * Another transaction with this nonce can still get into a block instead.
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
